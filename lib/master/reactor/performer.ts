/**
 * Starts reactions: publishes jobs of `local` at once, in the order of the reactions; functions of `runner`, `wheel`
 * and `caller` run in processes of the master, a limited number at once, and others wait.
 * @module
 */

import { messageOf, RefusedError } from "#lib/errors.ts";
import type { FunctionRequests } from "#lib/master/functions/requests.ts";
import type { FunctionJob } from "#lib/master/functions/messages.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Taken } from "#lib/reactor/journal.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";

/** The user of the reactor's runners and wheel functions; events with this user start no reactions. */
export const REACTOR_USER = "Reactor";

/** Pause before a function is tried again for which the master has no room, in milliseconds. */
const RETRY_MS = 500;

/** What a predecessor has done for a job. */
export interface Announced {
  /** Whether it has fired the job's first event. Default: no. */
  readonly isAnnounced?: boolean;
}

/** The parts of a {@linkcode Performer}. */
export interface PerformerParts {
  /** The user of the jobs that are published. */
  readonly user: string;
  readonly functions: FunctionRequests;
  /** Functions that run at once. */
  readonly running: number;
  /** Functions that may wait. */
  readonly waiting: number;
  /**
   * Publishes a job, with all rights of the master.
   * @param load The load of a publish.
   * @throws {TargetError} If its target cannot be read.
   */
  publish(load: ValueMap, how: Announced): Promise<void>;
  /** Called when a reaction was started. */
  onStarted(taken: Taken): void;
  /** Called when one could not be started. */
  onFailed(taken: Taken, reason: string): void;
}

/** Starts the reactions of one reactor. */
export class Performer {
  readonly #parts: PerformerParts;
  readonly #queue: Taken[] = [];
  readonly #running = new Map<string, Taken>();
  readonly #retries = new AbortController();
  #room: PromiseWithResolvers<void> | undefined;
  #closed = false;

  constructor(parts: PerformerParts) {
    this.#parts = parts;
  }

  /** Functions that wait. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Functions that are running. */
  get running(): readonly Taken[] {
    return [...this.#running.values()];
  }

  /** Starts a reaction, or puts it into the queue; waits as long as the queue is full. */
  async perform(taken: Taken, how: Announced = {}): Promise<void> {
    if (taken.reaction.kind === "local") return await this.#publish(taken, how);
    while (this.#queue.length >= this.#parts.waiting && !this.#closed) {
      this.#room ??= Promise.withResolvers();
      await this.#room.promise;
    }
    this.#queue.push(taken);
    this.#next();
  }

  async #publish(taken: Taken, how: Announced): Promise<void> {
    try {
      await this.#parts.publish(publishLoad(taken, this.#parts.user), how);
      this.#parts.onStarted(taken);
    } catch (error) {
      this.#parts.onFailed(taken, messageOf(error));
    }
  }

  #next(): void {
    while (this.#running.size < this.#parts.running && !this.#closed) {
      const taken = this.#queue.shift();
      if (taken === undefined) return;
      if (this.#queue.length < this.#parts.waiting) {
        this.#room?.resolve();
        this.#room = undefined;
      }
      this.#running.set(taken.jid, taken);
      void this.#run(taken).finally(() => {
        this.#running.delete(taken.jid);
        this.#next();
      });
    }
  }

  async #run(taken: Taken): Promise<void> {
    let begun = false;
    while (!this.#closed) {
      try {
        await this.#parts.functions.finish(functionJob(taken), () => {
          begun = true;
          this.#parts.onStarted(taken);
        });
        return;
      } catch (error) {
        if (begun || this.#closed) return; // the master has logged it, and fired the event of its end
        if (!(error instanceof RefusedError)) return this.#parts.onFailed(taken, messageOf(error));
        await sleep(RETRY_MS, this.#retries.signal).catch(() => {});
      }
    }
  }

  /** Starts nothing any more. */
  close(): void {
    this.#closed = true;
    this.#retries.abort();
    this.#room?.resolve();
  }
}

/** What the master would get from a client for this job. */
function publishLoad({ jid, reaction }: Taken, user: string): ValueMap {
  const { fun, args, kwargs, tgt, tgtType, ret, publish } = reaction;
  const arg: Value[] = toWireArgs(args, kwargs);
  return map({ cmd: "publish", tgt, fun, arg, tgt_type: tgtType, ret, jid, kwargs: new Map(publish), user });
}

function functionJob({ jid, reaction: { kind, fun, args, kwargs } }: Taken): FunctionJob {
  const user = REACTOR_USER;
  if (kind !== "caller") return { kind: kind === "wheel" ? "wheel" : "runner", fun, args, kwargs, jid, user };
  return { kind: "runner", fun: "salt.cmd", args: [fun, ...args], kwargs, jid, user };
}
