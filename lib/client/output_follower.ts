/**
 * What the commands of one job write, for the one who watches it: each batch once and in order, from the events as they come,
 * and from what the master keeps where one was missed. Prints nothing.
 * @module
 */

import type { OutputStore } from "../jobs/store.ts";
import type { LiveBatch, LivePart } from "../protocol/live_batch.ts";

/** Takes what a command of minion `id` has written. */
export type OutputListener = (id: string, parts: readonly LivePart[]) => void;

/** What is kept of it. */
export type KeptOutputs = Pick<OutputStore, "read" | "ids">;

/** Follows one job. */
export class OutputFollower {
  readonly #jid: string;
  readonly #outputs: KeptOutputs;
  readonly #listener: OutputListener;
  /** The number of the last batch of each minion. */
  readonly #seen = new Map<string, number>();

  /** Has seen nothing yet. */
  constructor(jid: string, options: { readonly outputs: KeptOutputs; readonly listener: OutputListener }) {
    this.#jid = jid;
    this.#outputs = options.outputs;
    this.#listener = options.listener;
  }

  /** A batch has come. */
  receive(id: string, batch: LiveBatch): void {
    if (batch.seq > this.#last(id) + 1) this.catchUp(id, batch.seq - 1);
    this.#show(id, batch);
  }

  /** Shows what is kept of minion `id` and has not been shown, up to a number. */
  catchUp(id: string, last: number = Infinity): void {
    for (const batch of this.#outputs.read(this.#jid, id)) if (batch.seq <= last) this.#show(id, batch);
  }

  /** Shows what is kept of every minion and has not been shown. */
  catchUpAll(): void {
    for (const id of this.#outputs.ids(this.#jid)) this.catchUp(id);
  }

  #last(id: string): number {
    return this.#seen.get(id) ?? 0;
  }

  #show(id: string, { seq, parts }: LiveBatch): void {
    if (seq <= this.#last(id)) return;
    this.#seen.set(id, seq);
    this.#listener(id, parts);
  }
}
