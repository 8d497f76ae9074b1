/**
 * Follows the live output of one job's commands: each batch once and in order. Batches come from events; a missed one
 * is read from the master's store. Prints nothing.
 * @module
 */

import type { JobStore } from "#lib/jobs/store.ts";
import type { LiveBatch, LivePart } from "#lib/protocol/live_batch.ts";

/** Called with the output of a command of minion `id`. */
export type OutputListener = (id: string, parts: readonly LivePart[]) => void;

/** The part of the output store that is used here. */
export type StoredOutputs = Pick<JobStore["outputs"], "read" | "ids">;

/** Follows one job. */
export class OutputFollower {
  readonly #jid: string;
  readonly #outputs: StoredOutputs;
  readonly #listener: OutputListener;
  /** The number of the last batch of each minion. */
  readonly #seen = new Map<string, number>();

  constructor(jid: string, options: { readonly outputs: StoredOutputs; readonly listener: OutputListener }) {
    this.#jid = jid;
    this.#outputs = options.outputs;
    this.#listener = options.listener;
  }

  /** Handles a batch of output. */
  async receive(id: string, batch: LiveBatch): Promise<void> {
    if (batch.seq > this.#last(id) + 1) await this.catchUp(id, batch.seq - 1);
    this.#show(id, batch);
  }

  /** Shows stored output of minion `id` that has not been shown, up to batch number `last`. */
  async catchUp(id: string, last: number = Infinity): Promise<void> {
    for (const batch of await this.#outputs.read(this.#jid, id)) if (batch.seq <= last) this.#show(id, batch);
  }

  /** Shows stored output of every minion that has not been shown. */
  async catchUpAll(): Promise<void> {
    for (const id of await this.#outputs.ids(this.#jid)) await this.catchUp(id);
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
