/**
 * Runs the parts of a batch in the background: publishes each and collects its returns, also over restarts of the
 * master. No operator could start the batch again, and the minions continue their job meanwhile.
 * @module
 */

import { NoMasterError } from "#lib/errors.ts";
import type { JobRequest, PublishedJob } from "#lib/client/job.ts";
import { LocalClient } from "#lib/client/local.ts";
import { isMasterRunning } from "#lib/client/master_running.ts";
import { sleep } from "#lib/os/sleep.ts";
import { type Answer, answers } from "#lib/commands/report/answers.ts";
import { type Session, turnOf } from "./salt_session.ts";

/** Time that a batch waits for its master, in milliseconds. */
const AWAY_MS = 10 * 60_000;
/** The interval of checks for a master, in milliseconds. */
const LOOK_MS = 500;
/**
 * After a restart of the master, minions sign in again after random delays. For this time a part waits longer for
 * answers, in milliseconds.
 */
const COMEBACK_MS = 30_000;

/** Options for the time while no master is running. */
export interface BackgroundOptions {
  /** How long it waits for the master. Default: {@linkcode AWAY_MS}. */
  readonly awayMs?: number;
}

/** Runs the parts of one batch. */
export class BackgroundParts {
  readonly #session: Session;
  readonly #awayMs: number;
  /** When the master came back, by `performance.now()`. */
  #backAt = -Infinity;

  constructor(session: Session, { awayMs = AWAY_MS }: BackgroundOptions = {}) {
    this.#session = session;
    this.#awayMs = awayMs;
  }

  /**
   * The answers of `ids` to `job`, each once.
   * @throws {NoMasterError} If no master starts in time.
   * @throws What publishing throws.
   */
  async *answers(job: JobRequest, ids: readonly string[]): AsyncGenerator<Answer> {
    const { io: { signal } } = this.#session;
    const left = new Set(ids);
    let published: PublishedJob | undefined;
    while (!signal.aborted) {
      try {
        using client = await this.#connect();
        // A minion that has the job already recognises its id and does not run it twice.
        published ??= await client.publish(
          { ...job, tgt: [...left], tgtType: "list" },
          turnOf(this.#session, Infinity),
        );
        const waited = { ...published, minions: published.minions.filter((id) => left.has(id)) };
        for await (const answer of this.#follow(client, waited)) {
          left.delete(answer.id);
          yield answer;
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof NoMasterError)) throw error;
        await this.#masterReturns(error);
      }
    }
  }

  async #connect(): Promise<LocalClient> {
    const { opts, user, log, credentials, signer } = this.#session;
    return await LocalClient.connect(opts, { user, log, credentials, signer });
  }

  async *#follow(client: LocalClient, published: PublishedJob): AsyncGenerator<Answer> {
    const { opts, timeouts, io: { signal }, live } = this.#session;
    const interrupt = () => client.close();
    signal.addEventListener("abort", interrupt);
    const isBack = performance.now() - this.#backAt < COMEBACK_MS;
    const patient = isBack ? { ...timeouts, timeoutMs: Math.max(timeouts.timeoutMs, COMEBACK_MS) } : timeouts;
    try {
      yield* answers(client, published, { timeouts: patient, signal, live, opts });
    } finally {
      signal.removeEventListener("abort", interrupt);
    }
  }

  /**
   * Resolves when a master runs again, or the batch is stopped.
   * @throws {NoMasterError} If no master starts in time.
   */
  async #masterReturns(gone: NoMasterError): Promise<void> {
    const { opts: { sock_dir }, io: { signal }, log } = this.#session;
    log.warning(`${gone.message}. The batch continues when a master runs again`);
    const deadline = performance.now() + this.#awayMs;
    while (!signal.aborted && !(await isMasterRunning(sock_dir))) {
      if (performance.now() > deadline) throw gone;
      await sleep(LOOK_MS, signal).catch(() => {}); // aborted: the loop ends
    }
    this.#backAt = performance.now();
  }
}
