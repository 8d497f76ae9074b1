/**
 * Reports which minions are connected: in a file for the commands of this host (lib/fleet/presence_file.ts), by events,
 * and to the delivery of jobs. lib/fleet/presence.ts reads it from the subscriptions. Knows no sockets.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { stamp } from "#lib/bus/event.ts";
import type { EventData } from "#lib/bus/event.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { PresenceBook, PresenceChange } from "#lib/fleet/presence.ts";
import { type Presence, readOwnPresence, writePresence } from "#lib/fleet/presence_file.ts";
import { PRESENCE_CHANGE_EVENT } from "#lib/protocol/tags.ts";
import { map } from "#lib/values/value.ts";
import { PacedWork } from "#lib/runtime/paced_work.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Changes of presence are collected for this time before they are published, in milliseconds. */
const GATHER_MS = 100;
/**
 * Reconnecting minions are collected for this time before missed jobs are published, in milliseconds. Every publish
 * goes to all minions: otherwise a returning fleet would get one publish per minion.
 */
const ARRIVALS_MS = 50;

/** The parts of {@linkcode PresenceReports}. */
export interface PresenceParts {
  /** The master's cache directory. */
  readonly cachedir: string;
  readonly book: PresenceBook;
  readonly log: Logger;
  /** Fires an event. */
  fire(tag: string, data: EventData): Promise<unknown>;
  /** Called with minions that have connected, collected for a moment. */
  onArrivals(ids: readonly string[]): Promise<void>;
}

/** The reports of one master. */
export class PresenceReports {
  readonly #parts: PresenceParts;
  readonly #gone: Map<string, number>;
  readonly #arrived = new Set<string>();
  readonly #reporting = new PacedWork(() => this.#report(), GATHER_MS);
  #changes: PresenceChange[] = [];
  #catchingUp: Timer | undefined;

  /**
   * Writes the file.
   * @throws {Error} If it cannot be written.
   */
  constructor(parts: PresenceParts) {
    const { cachedir, book } = parts;
    this.#parts = parts;
    this.#gone = allGone(readOwnPresence(cachedir));
    writePresence(cachedir, { present: book.since, gone: this.#gone });
  }

  /** Takes a frame of a subscriber. */
  receive(frame: Uint8Array): void {
    const change = this.#parts.book.receive(frame);
    if (change === undefined) return;
    this.#changes.push(change);
    if (change.present) this.#gone.delete(change.id);
    else this.#gone.set(change.id, Date.now());
    this.#reporting.ask();
    if (!change.present) return;
    this.#arrived.add(change.id);
    this.#catchingUp ??= setTimeout(() => void this.#catchUp(), ARRIVALS_MS);
  }

  async #catchUp(): Promise<void> {
    this.#catchingUp = undefined;
    const ids = [...this.#arrived];
    this.#arrived.clear();
    await this.#parts.onArrivals(ids);
  }

  async #report(): Promise<void> {
    const { cachedir, book, log, fire } = this.#parts;
    const changes = this.#changes;
    this.#changes = [];
    try {
      writePresence(cachedir, { present: book.since, gone: this.#gone });
    } catch (error) {
      log.error(`The presence file could not be written: ${messageOf(error)}`);
    }
    // A minion that disconnected and reconnected meanwhile is not reported.
    const last = new Map(changes.map(({ id, present }) => [id, present]));
    const ids = (present: boolean) => [...last].filter(([, is]) => is === present).map(([id]) => id);
    await fire(PRESENCE_CHANGE_EVENT, stamp(map({ new: ids(true), lost: ids(false) })));
  }

  /** Stops calling the listener. */
  close(): void {
    void this.#reporting.close();
    clearTimeout(this.#catchingUp);
  }
}

/** All minions of the last master count as disconnected until they connect again. */
function allGone({ present, gone }: Presence): Map<string, number> {
  return new Map([...gone, ...[...present.keys()].map((id) => [id, Date.now()] as const)]);
}
