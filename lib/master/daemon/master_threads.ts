/**
 * The threads of a master that are started again when they die.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import type { PortPost } from "#lib/runtime/thread_ports.ts";
import { type SupervisedInit, SupervisedThread, type SupervisedThreadOptions } from "#lib/sockets/supervised_thread.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";

/** What differs from thread to thread. `canOverlap` is false by default. */
export type KeptThreadOptions<Init extends SupervisedInit> =
  & Pick<SupervisedThreadOptions<Init>, "init" | "onMessage" | "onSuccessor" | "stopComputing">
  & { readonly canOverlap?: boolean };

/** The threads of one master, by name. */
export class MasterThreads {
  readonly #threads = new Map<string, SupervisedThread>();
  readonly #log: Logger;
  readonly #unwanted: () => boolean;

  /** @param unwanted Whether the death of a thread is irrelevant at this time. */
  constructor(log: Logger, unwanted: () => boolean) {
    this.#log = log;
    this.#unwanted = unwanted;
  }

  /** Number of threads. */
  get size(): number {
    return this.#threads.size;
  }

  /** Starts a thread, and supervises it. */
  keep<Init extends SupervisedInit>(name: string, url: URL, options: KeptThreadOptions<Init>): SupervisedThread<Init> {
    const thread = new SupervisedThread<Init>({
      name,
      url,
      log: this.#log,
      unwanted: this.#unwanted,
      canOverlap: false,
      ...options,
    });
    this.#threads.set(name, thread);
    return thread;
  }

  /** Posts messages to the thread of this name, once it has been started. */
  postTo(name: string): PortPost<unknown> {
    return (message, transfer) => this.#threads.get(name)?.post(message, transfer);
  }

  /** The current activity of each thread, one line each. */
  async describe(): Promise<string[]> {
    return await Promise.all(
      [...this.#threads.values()].map(async (thread) => `${thread.name}: ${await thread.describe()}`),
    );
  }

  /** Stops all threads but those in `others`. */
  async stop(budget: TimeBudget, { but: others }: { readonly but: readonly unknown[] }): Promise<void> {
    const threads = [...this.#threads.values()].filter((thread) => !others.includes(thread));
    await Promise.all(threads.map((thread) => thread.stop(budget)));
  }
}
