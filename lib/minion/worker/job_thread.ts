/**
 * A worker thread of this process that runs jobs of built-in modules, and the commands that they start.
 * @module
 */

import { ChildPids } from "./child_pids.ts";
import { WireError } from "#lib/errors.ts";
import type { JobHost } from "./job_host.ts";
import { parseFromJob } from "./job_messages.ts";
import type { FromJob, JobWorkerInit, ToJob } from "./job_protocol.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { trimMemory } from "#lib/libc/libc.ts";
import { sleep } from "#lib/os/sleep.ts";
import { StopWord } from "#lib/values/stop_word.ts";
import { Thread } from "#lib/runtime/thread.ts";

/** The signal that the error of a thread which computes names. */
const SIGKILL = 9;

/** Time after which a terminated thread counts as still running, in milliseconds. */
const ENDING_MS = 2_000;
/** Interval of the checks whether it has ended, in milliseconds. */
const LOOK_MS = 5;

/** Options of a {@linkcode JobThread}. */
export interface JobThreadOptions {
  readonly name: string;
  readonly init: Omit<JobWorkerInit, "children" | "stop">;
  /** Its Deno permissions. */
  readonly permissions: Deno.PermissionOptions;
  readonly log: Logger;
  /** The file of the thread. Default: job_worker.ts. */
  readonly url?: URL;
  /** Called once when it has ended unexpectedly. */
  onDeath(reason: string): void;
  /** Called with its messages. */
  onMessage(message: FromJob): void;
}

/** A thread that runs jobs. */
export class JobThread implements JobHost {
  readonly name: string;
  readonly #children = new ChildPids();
  readonly #stop = new StopWord();
  readonly #thread: Thread<JobWorkerInit>;
  readonly #options: JobThreadOptions;

  /**
   * Starts the thread.
   * @throws {TypeError} If the permissions are invalid.
   */
  constructor(options: JobThreadOptions) {
    this.name = options.name;
    this.#options = options;
    this.#thread = new Thread<JobWorkerInit>({
      name: options.name,
      url: options.url ?? new URL("./job_worker.ts", import.meta.url),
      init: { ...options.init, children: this.#children.memory, stop: this.#stop.memory },
      permissions: options.permissions,
      log: options.log,
      onDeath: (reason) => options.onDeath(reason),
      onMessage: (message) => {
        const parsed = this.#parse(message);
        if (parsed !== undefined) options.onMessage(parsed);
      },
    });
  }

  /** A worker that sends an invalid message is ended: the state of its job is unknown. */
  #parse(message: unknown): FromJob | undefined {
    try {
      return parseFromJob(message);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#thread.kill();
      this.#options.onDeath(`it sent an invalid message: ${error.message}`);
    }
  }

  /** Sends `message` to the thread. */
  send(message: ToJob): void {
    this.#thread.post(message);
  }

  describe(): Promise<string> {
    return this.#thread.describe();
  }

  commands(): number[] {
    return this.#children.list();
  }

  get hasKeeperCommands(): boolean {
    return this.#children.hasKeeperCommands;
  }

  /** The runtime ends a thread when it next waits for something, and the stop word ends what computes. */
  async kill(): Promise<boolean> {
    this.#stop.stop(SIGKILL);
    this.#thread.kill();
    return await this.#ended();
  }

  /**
   * The C library keeps what a thread has freed for the next one; those of a burst of jobs may be the last for hours.
   */
  async stop(): Promise<void> {
    await this.#thread.stop();
    if (await this.#ended()) trimMemory();
  }

  async #ended(): Promise<boolean> {
    for (const end = performance.now() + ENDING_MS; this.#thread.task.alive() && performance.now() < end;) {
      await sleep(LOOK_MS);
    }
    return !this.#thread.task.alive();
  }
}
