/**
 * The returns that were published but could not be stored, shared by all MWorkers: a minion sends such a return again,
 * to any of them, and its clients are to see it once.
 * @module
 */

import { SharedTable } from "#lib/keys/shared_table.ts";

/** All that a record says is that it is there. */
const THERE = new Uint8Array([1]);

/** One thread's view of them. In a large fleet some are forgotten: such a return is published again. */
export class FiredReturns {
  readonly #table: SharedTable;

  /** @param memory The memory of another thread's view; without it an empty table is made. */
  constructor(memory?: SharedArrayBuffer) {
    this.#table = new SharedTable(THERE.length, memory);
  }

  /** Other threads make their own view of it. */
  get memory(): SharedArrayBuffer {
    return this.#table.memory;
  }

  /** Whether this call is the first for the return of minion `id` for job `jid`; it is remembered. */
  addNew(jid: string, id: string): boolean {
    const name = `${jid} ${id}`;
    if (this.#table.get(name, "") !== undefined) return false;
    this.#table.put(name, "", THERE);
    return true;
  }
}
