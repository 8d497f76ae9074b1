/**
 * Runs functions of runners and wheel modules for an MWorker: the MWorker asks the main thread, which runs each in a
 * process (processes.ts), and takes other requests while it waits.
 * @module
 */

import {
  type FunctionJob,
  type FunctionMessage,
  type FunctionOutcome,
  type FunctionRequest,
  type FunctionServices,
  packFunctionJob,
  parseFunctionMessage,
  unpackFunctionOutcome,
} from "./messages.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { RefusedError } from "#lib/errors.ts";

/** Maximum wait for an outcome, in milliseconds: by then the client has given up too. */
const CALL_MS = 300_000;

interface Pending {
  taken(): void;
  ended(outcome: FunctionOutcome): void;
  failed(error: Error): void;
}

/** The functions that this thread has requested. */
export class FunctionRequests implements FunctionServices {
  readonly #pending = new Map<string, Pending>();
  readonly #post: (request: FunctionRequest) => void;
  readonly #park: () => void;

  /** @param park Called when a request begins to wait. */
  constructor(post: (request: FunctionRequest) => void, park: () => void) {
    this.#post = post;
    this.#park = park;
  }

  /**
   * Starts a function; resolves when it is sure to be run.
   * @throws {RefusedError} If too many are running.
   */
  start(job: FunctionJob): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const key = this.#ask(job, {
      taken: () => {
        this.#pending.delete(key);
        resolve();
      },
      ended: () => resolve(),
      failed: reject,
    });
    return promise;
  }

  /**
   * Runs a function to its end, for 300 s at most.
   * @throws {RefusedError} If it cannot be run, or takes longer.
   */
  async call(job: FunctionJob): Promise<FunctionOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<FunctionOutcome>();
    const key = this.#ask(job, { taken: () => {}, ended: resolve, failed: reject });
    const timer = setTimeout(() => reject(refuse(`${job.fun} has not ended in ${CALL_MS / 1000} seconds`)), CALL_MS);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(key);
    }
  }

  /**
   * Runs a function to its end, however long it takes.
   * @param onTaken Called when it is sure to be run.
   * @throws {RefusedError} If it cannot be run, or its process was lost.
   */
  async finish(job: FunctionJob, onTaken: () => void): Promise<FunctionOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<FunctionOutcome>();
    this.#ask(job, { taken: onTaken, ended: resolve, failed: reject });
    return await promise;
  }

  #ask(job: FunctionJob, pending: Pending): string {
    const key = crypto.randomUUID();
    this.#pending.set(key, pending);
    this.#post({ key, job: packFunctionJob(job) });
    this.#park();
    return key;
  }

  /** Handles a reply of the main thread. Replies to a predecessor of this thread are ignored. */
  receive(message: unknown): void {
    const reply: FunctionMessage = parseFunctionMessage(message);
    const pending = this.#pending.get(reply.key);
    if (pending === undefined) return;
    if (reply.state === "taken") return pending.taken();
    this.#pending.delete(reply.key);
    if (reply.state === "ended") pending.ended(unpackFunctionOutcome(reply.outcome));
    else {pending.failed(
        refuse(reply.state === "full" ? "too many functions are running already" : "its process has ended"),
      );}
  }
}

/** An error under a name that Salt's clients know. */
function refuse(text: string): RefusedError {
  return new RefusedError("SaltMasterError", `The master cannot run it: ${text}`);
}
