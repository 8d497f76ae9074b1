/**
 * Rows of jobs in a database whose code is loaded when something is first asked for: a thread of a master that keeps
 * its jobs in files never needs it.
 * @module
 */

import { CalledRows, performCall } from "./called_rows.ts";
import type { JobRows } from "./rows.ts";

/** The rows that `open` gives. */
export class LateRows extends CalledRows {
  readonly #open: () => Promise<JobRows>;
  #opened: Promise<JobRows> | undefined;

  constructor(open: () => Promise<JobRows>) {
    super();
    this.#open = open;
  }

  protected override async call<T>(method: keyof JobRows, argument?: unknown): Promise<T> {
    this.#opened ??= this.#open();
    // The value is what the method of the rows gave.
    return await performCall(await this.#opened, method, argument) as T;
  }

  override async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}
