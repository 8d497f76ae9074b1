/**
 * The events that a minion sends to its masters.
 * Source: docs/protocol.md "Commands of minions" (`_minion_event`).
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { messageOf, RequestTooLargeError, WireError } from "#lib/errors.ts";
import type { Sent } from "#lib/minion/beacons/beacon_outbox.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { connectedMasters, isMasterTrouble, Masters } from "#lib/minion/masters/masters.ts";
import { LEGACY_START_EVENT, minionStart } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { strftime } from "#lib/text/strftime.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";

/** Who receives an event: a master, or all that are connected. */
export type EventReceiver = MasterConnection | Masters;

/** What the events need of their minion. */
interface SendingMinion {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Aborts when the minion ends. */
  readonly closing: AbortSignal;
  /** `undefined`: it has none. */
  masters(): Masters | undefined;
  /** A master refused an event, and not because it is away. */
  fail(error: unknown, connection: MasterConnection): void;
}

/** Sends a minion's events. */
export class MasterEvents {
  readonly #minion: SendingMinion;

  constructor(minion: SendingMinion) {
    this.#minion = minion;
  }

  /**
   * Sends an event: `tag` and `data`, or `events`.
   * @returns Whether a master accepted it. Never rejects.
   */
  async fire(event: ValueMap, receiver: EventReceiver | undefined): Promise<boolean> {
    if (receiver === undefined) return false;
    const connections = receiver instanceof Masters ? receiver.connected : [receiver];
    const taken = await Promise.all(connections.map((connection) => this.#fireAt(event, connection)));
    return taken.includes(true);
  }

  async #fireAt(event: ValueMap, connection: MasterConnection): Promise<boolean> {
    const { opts, log, closing, fail } = this.#minion;
    try {
      await connection.ask(new Map([...map({ id: opts.id, cmd: "_minion_event" }), ...event]));
      return true;
    } catch (error) {
      if (closing.aborted) return false;
      const tag = str(event.get("tag") ?? null);
      log.error(`The master ${connection.name} did not take the event ${tag}: ${messageOf(error)}`);
      if (!isMasterTrouble(error)) fail(error, connection);
      return false;
    }
  }

  /** Says to a master that the minion has started, with the grains that `start_event_grains` names. */
  async fireStart(connection: MasterConnection, own: ValueMap): Promise<void> {
    const { id, start_event_grains, enable_legacy_startup_events } = this.#minion.opts;
    const data = `Minion ${id} started at ${strftime(new Date(), "%c")}`;
    const grains: ValueMap = new Map();
    for (const name of start_event_grains) if (own.has(name)) grains.set(name, own.get(name) ?? null);
    const tags = [...(enable_legacy_startup_events ? [LEGACY_START_EVENT] : []), minionStart(id)];
    for (const tag of tags) {
      const event = map({ pretag: null, data, tag });
      if (grains.size > 0) event.set("grains", grains);
      await this.fire(event, connection);
    }
  }

  /** Sends events of beacons to all masters, in one request. Never rejects. */
  async sendTogether(events: readonly ValueMap[]): Promise<Sent> {
    const { opts, masters } = this.#minion;
    try {
      await connectedMasters(masters()).askAll(map({ id: opts.id, cmd: "_minion_event", events }));
      return "sent";
    } catch (error) {
      return error instanceof WireError || error instanceof RequestTooLargeError ? "refused" : "away";
    }
  }
}
