/**
 * Serves the masters of a minion: signs in at each, and tries one of several that refuses the minion again.
 * Source: docs/masters.md; Salt 3008.3 `salt/minion.py` MinionManager.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { messageOf, SignInError } from "#lib/errors.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import type { Masters } from "#lib/minion/masters/masters.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { GrainsAndPillar } from "./grains_and_pillar.ts";
import type { MasterEvents } from "./master_events.ts";

/** What serving masters needs of the minion. */
interface ServingMinion {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Aborts when the minion ends. */
  readonly closing: AbortSignal;
  readonly known: GrainsAndPillar;
  readonly sent: MasterEvents;
  /** `undefined`: they are not known yet. */
  masters(): Masters | undefined;
  /** Called each time that a master serves the minion. */
  serving(): void;
  /** Ends the minion, with the error that ended it. */
  end(error: unknown): void;
}

/** The masters that one minion serves. */
export class ServedMasters {
  readonly #minion: ServingMinion;
  /** Those that refuse the minion, and are tried again. */
  readonly #refused = new Set<MasterConnection>();

  constructor(minion: ServingMinion) {
    this.#minion = minion;
  }

  /**
   * Signs in at a master, and serves it. One of several that refuses the minion does not keep it from the others.
   * @throws {SignInError} If the only one refuses.
   */
  async serve(connection: MasterConnection): Promise<void> {
    const { opts: { acceptance_wait_time: waitS }, log, closing, known, sent, serving } = this.#minion;
    for (;;) {
      try {
        await connection.connect();
        await known.takeFirstPillar(connection);
        break;
      } catch (error) {
        if (!(error instanceof SignInError) || !this.#isOneOfMany) throw error;
        const what = `The master ${connection.name} is not served, and tried again in ${waitS} seconds`;
        log.error(`${what}: ${error.message}`);
        await sleep(waitS * 1000, closing);
      }
    }
    await sent.fireStart(connection, known.grains);
    connection.spool.flush();
    serving();
  }

  /** A master has restarted, or serves in place of another one, whose pillar is not this one's. Never rejects. */
  async greet(connection: MasterConnection, why: "restarted" | "changed"): Promise<void> {
    const { log, closing, known, sent } = this.#minion;
    try {
      if (why === "changed") await known.takeFirstPillar(connection);
    } catch (error) {
      if (closing.aborted) return;
      log.error(`The pillar stays the one of the master before: ${messageOf(error)}`);
    }
    await sent.fireStart(connection, known.grains);
  }

  /** A connection cannot go on. With other masters the minion serves on, and tries this one again. */
  fail(error: unknown, connection: MasterConnection): void {
    const { opts, log, closing, end } = this.#minion;
    if (!(error instanceof SignInError) || !this.#isOneOfMany) return end(error);
    if (closing.aborted || this.#refused.has(connection)) return;
    this.#refused.add(connection);
    log.error(`The master ${connection.name} is not served any more: ${error.message}`);
    sleep(opts.acceptance_wait_time * 1000, closing)
      .then(() => this.serve(connection))
      .then(() => this.#refused.delete(connection))
      .catch((failure) => closing.aborted || end(failure));
  }

  get #isOneOfMany(): boolean {
    return this.#minion.masters()?.isMany ?? false;
  }
}
