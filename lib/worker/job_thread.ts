/**
 * A worker of this process that runs jobs of built-in modules, and the commands that those have started.
 * @module
 */

import { ChildPids } from "./child_pids.ts";
import type { JobHost } from "./job_host.ts";
import type { FromJob, JobWorkerInit, ToJob } from "./job_protocol.ts";
import type { Logger } from "../process/log.ts";
import { newestWorkerTask, type ThreadTask } from "../host/process_facts.ts";
import { sleep } from "../os/sleep.ts";
import { Thread } from "../process/thread.ts";

/** How long a thread that was told to end may take before it counts as one that goes on, in milliseconds. */
const ENDING_MS = 2_000;
/** Between two looks whether it has, in milliseconds. */
const LOOK_MS = 5;

/** How a thread is started. */
export interface JobThreadOptions {
  /** As it appears in logs. */
  readonly name: string;
  /** What it starts with. */
  readonly init: Omit<JobWorkerInit, "children">;
  /** What Deno lets it do. */
  readonly permissions: Deno.PermissionOptions;
  /** Where its log ends. */
  readonly log: Logger;
  /** The file of the thread. Default: job_worker.ts. */
  readonly url?: URL;
  /** Hears once that it has died. */
  onDeath(reason: string): void;
  /** Hears its messages. */
  onMessage(message: FromJob): void;
}

/** A thread that runs jobs. */
export class JobThread implements JobHost {
  readonly name: string;
  readonly pid: number = Deno.pid;
  readonly #children = new ChildPids();
  readonly #thread: Thread<JobWorkerInit>;
  readonly #task: ThreadTask;

  /** Starts it. @throws {TypeError} If the permissions cannot be given. */
  constructor(options: JobThreadOptions) {
    this.name = options.name;
    this.#thread = new Thread<JobWorkerInit>({
      name: options.name,
      url: options.url ?? new URL("./job_worker.ts", import.meta.url),
      init: { ...options.init, children: this.#children.memory },
      permissions: options.permissions,
      log: options.log,
      onDeath: (reason) => options.onDeath(reason),
      // Built-in modules alone run there.
      onMessage: (message) => options.onMessage(message as FromJob),
    });
    this.#task = newestWorkerTask();
  }

  /** Sends `message` to the thread. */
  tell(message: ToJob): void {
    this.#thread.post(message);
  }

  describe(): Promise<string> {
    return this.#thread.describe();
  }

  commands(): number[] {
    return this.#children.list();
  }

  /** The runtime ends a thread when that next waits for something: one that never does goes on. */
  async kill(): Promise<boolean> {
    this.#thread.kill();
    for (const end = performance.now() + ENDING_MS; this.#task.alive() && performance.now() < end;) {
      await sleep(LOOK_MS);
    }
    return !this.#task.alive();
  }

  stop(): Promise<void> {
    return this.#thread.stop();
  }
}
