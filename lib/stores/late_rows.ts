/**
 * Rows of jobs in a database whose code is loaded when something is first asked for: a thread of a master that keeps
 * its jobs in files never needs it.
 * @module
 */

import { CalledRows, performCall } from "./called_rows.ts";
import type { JobRows } from "./rows.ts";
import type { StoreOpts } from "./store_options.ts";

/** The rows of a database that this process opens itself. */
export class LateRows extends CalledRows {
  readonly #opts: StoreOpts;
  #opened: Promise<JobRows> | undefined;

  constructor(opts: StoreOpts) {
    super();
    this.#opts = opts;
  }

  protected override async call<T>(method: keyof JobRows, argument?: unknown): Promise<T> {
    this.#opened ??= import("./open_rows.ts").then(({ openRows }) => openRows(this.#opts));
    // The value is what the method of the rows gave.
    return await performCall(await this.#opened, method, argument) as T;
  }

  override async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}
