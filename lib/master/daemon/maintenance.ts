/**
 * Maintenance, once per `loop_interval`: removes old jobs and tokens that have expired, rotates the shared key when
 * due, restores the users' key files. It runs in the master's main thread, which passes no messages, a few milliseconds
 * at a time. A thread for each round took 0.1 s of processor time, four times everything else that an idle master does
 * in a minute. Source: docs/protocol.md "The shared key and session keys", docs/protocol.md "The job cache".
 * @module
 */

import { describeError } from "#lib/errors.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { DROPFILE } from "#lib/keys/dropfile.ts";
import { Tokens } from "#lib/auth/tokens.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { removeOldFiles } from "#lib/os/store_files.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";

/** What Maintenance needs of the master. */
export interface MaintenanceParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  /** The jobs; closed with it. */
  readonly jobs: JobStore;
  /** The time at which the shared key was made, in milliseconds since the epoch. */
  keyMadeMs(): number;
  /**
   * Makes a new shared key.
   * @param reason For the log.
   */
  rotate(reason: RotationReason): void;
  /** Fires which minions are connected; absent without `presence_events`. */
  readonly reportPresence?: () => Promise<void>;
  /** Whether old jobs are this master's to remove: in a cluster one master does it for all. */
  removesJobs(): boolean;
  /** Takes the next key pair of the master, if its time has come. */
  settlePair(): void;
  /** Restores missing key files of users. */
  restoreAccessKeys(): void;
}

/** Why the shared key is replaced. */
export type RotationReason = typeof DELETED | typeof TOO_OLD;
const DELETED = "a key was deleted or rejected";
/** The reason of a rotation by `publish_session`. */
export const TOO_OLD = "it is old enough";

/** A shorter `loop_interval` would only keep the main thread busy. */
const MIN_ROUND_MS = 50;

/** Repeats rounds until closed. */
export class Maintenance {
  readonly #parts: MaintenanceParts;
  readonly #jobs: JobStore;
  readonly #tokens: Tokens | undefined;
  readonly #timer: Timer;
  #round: Promise<void> | undefined;
  readonly #ending = new AbortController();

  /** The first round begins after one `loop_interval`. */
  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#jobs = parts.jobs;
    const { external_auth, token_dir: directory, hash_type: hashType } = parts.opts;
    if (external_auth.size > 0) {
      this.#tokens = new Tokens({ directory, hashType, log: parts.log.error, notes: changeNotes(parts.opts) });
    }
    this.#timer = setInterval(() => this.#start(), Math.max(parts.opts.loop_interval * 1000, MIN_ROUND_MS));
  }

  /** Whether a round is running. */
  get busy(): boolean {
    return this.#round !== undefined;
  }

  /** Starts a round, unless the last one is still running. */
  #start(): void {
    this.#round ??= this.#run().catch((error) => this.#parts.log.error(`Maintenance failed: ${describeError(error)}`))
      .finally(() => this.#round = undefined);
  }

  async #run(): Promise<void> {
    const { opts, log, rotate, restoreAccessKeys, reportPresence, settlePair } = this.#parts;
    restoreAccessKeys();
    settlePair();
    await reportPresence?.().catch((error) => log.error(`Presence cannot be reported: ${describeError(error)}`));
    const reason = this.#rotationReason();
    if (reason !== undefined) rotate(reason);
    const limits = { nowMs: Date.now(), keepSeconds: opts.keep_jobs_seconds };
    if (limits.keepSeconds > 0) {
      removeOldFiles(`${opts.cachedir}/publish_auth`, limits.nowMs - limits.keepSeconds * 1000, log.error);
    }
    this.#tokens?.removeExpired();
    if (!this.#parts.removesJobs()) return;
    const removed = await this.#jobs.clean(limits, this.#ending.signal);
    if (removed > 0) log.info(`Removed ${removed} old jobs from the cache`);
  }

  /** The reason to rotate the shared key now, if any: it is too old, or salt-key has asked for it by a file. */
  #rotationReason(): RotationReason | undefined {
    const { opts, log, keyMadeMs } = this.#parts;
    const dropfile = `${opts.cachedir}/${DROPFILE}`;
    try {
      const { mode, isFile } = Deno.lstatSync(dropfile);
      // Only the owner can have made a file with this mode; a file with another mode may be an attempt to make all
      // minions sign in again.
      if (isFile && mode !== null && (mode & 0o777) === 0o400) {
        const asker = Deno.readTextFileSync(dropfile).trim();
        removeIfExists(dropfile);
        if (asker === "" || asker === opts.id) return DELETED;
        log.error(`Ignored ${dropfile}, which is meant for the master ${asker}`);
      } else {
        log.error(`Ignored ${dropfile}: it must be a file with mode 0400`);
      }
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    const { publish_session: lifetimeS } = opts;
    return lifetimeS > 0 && Date.now() - keyMadeMs() > lifetimeS * 1000 ? TOO_OLD : undefined;
  }

  /** Ends it; the next master does the rest. May be called twice. */
  async close(): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#timer);
    await this.#round;
    await this.#jobs.close();
  }
}
