/**
 * States with `parallel: True`: they run while the run continues, in this process. What they wait for (commands, files,
 * the network) continues at the same time; Salt starts a process for each. Source: Salt 3008.3, `call_parallel`,
 * `reconcile_procs` of `salt/state.py`.
 * @module
 */

import { type Chunk, chunkTag } from "#lib/states/compiler/chunks.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

interface Started {
  readonly done: Promise<void>;
}

interface Waiting {
  readonly tag: string;
  readonly start: () => void;
}

/** The parallel states of a run. */
export class ParallelStates {
  readonly #running = new Map<string, Started>();
  readonly #waiting: Waiting[] = [];
  readonly #max: number;
  readonly #resultOf: (tag: string) => ValueMap | undefined;
  readonly #onResult: (chunk: Chunk, result: ValueMap) => void;

  /**
   * @param max `state_max_parallel`: how many run at once; 0: any number.
   * @param resultOf The result of a state as the run holds it, which is completed when the state has ended.
   * @param onResult Called when the state has ended.
   */
  constructor(
    max: number,
    resultOf: (tag: string) => ValueMap | undefined,
    onResult: (chunk: Chunk, result: ValueMap) => void = () => {},
  ) {
    this.#max = max;
    this.#resultOf = resultOf;
    this.#onResult = onResult;
  }

  /**
   * Starts a state, or queues it.
   * @returns Its result until it has ended.
   */
  add(chunk: Chunk, name: Value, run: () => Promise<ValueMap>): ValueMap {
    const tag = chunkTag(chunk);
    const starts = this.#mayStart();
    const comment = starts
      ? "Started in a separate process"
      : "Waiting to be started in a separate process, max_parallel hit";
    const done = Promise.withResolvers<void>();
    const start = () =>
      run().then((result) => this.#ended(chunk, result)).then(done.resolve, (error: unknown) => {
        this.#leave(tag);
        done.reject(error);
      });
    // It rejects only at the end of the job; without this handler that would be an unhandled rejection.
    done.promise.catch(() => {});
    this.#running.set(tag, { done: done.promise });
    if (starts) this.#start(tag, start);
    else this.#waiting.push({ tag, start });
    return map({ name, result: null, changes: {}, comment });
  }

  readonly #active = new Set<string>();

  #mayStart(): boolean {
    return this.#max <= 0 || this.#active.size < this.#max;
  }

  #start(tag: string, start: () => void): void {
    this.#active.add(tag);
    // The run enters the state's first result before the state can end.
    queueMicrotask(start);
  }

  #ended(chunk: Chunk, result: ValueMap): void {
    const tag = chunkTag(chunk);
    const entry = this.#resultOf(tag);
    for (const [key, value] of result) entry?.set(key, value);
    if (entry !== undefined) this.#onResult(chunk, entry);
    this.#leave(tag);
  }

  #leave(tag: string): void {
    this.#running.delete(tag);
    this.#active.delete(tag);
    while (this.#mayStart()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#resultOf(next.tag)?.set("comment", "Started in a separate process");
      this.#start(next.tag, next.start);
    }
  }

  /** Whether a state has not ended. */
  isRunning(tag: string): boolean {
    return this.#running.has(tag);
  }

  /**
   * Waits until all these states have ended.
   * @throws If the job is to end.
   */
  async ended(tags: Iterable<string>): Promise<void> {
    for (const tag of tags) await this.#running.get(tag)?.done;
  }

  /** Waits until one more state has ended. */
  async next(): Promise<void> {
    if (this.#running.size > 0) await Promise.race([...this.#running.values()].map(({ done }) => done));
  }

  /**
   * Waits until all states have ended.
   * @throws If the job is to end.
   */
  async all(): Promise<void> {
    while (this.#running.size > 0) await this.ended([...this.#running.keys()]);
  }
}
