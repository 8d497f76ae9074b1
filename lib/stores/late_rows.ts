/**
 * Rows of jobs in a database whose code is loaded when something is first asked for: a thread of a master that keeps
 * its jobs in files never needs it.
 * @module
 */

import type { Appended, CleaningLimits } from "#lib/jobs/store.ts";
import type {
  AckWrite,
  BatchWrite,
  JobReturnRow,
  JobRow,
  JobRows,
  JobWrite,
  OutputWrite,
  PageQuery,
  PageRow,
  ReturnWrite,
  RowsStatus,
} from "./rows.ts";
import type { StoreOpts } from "./store_options.ts";

/** The rows of a database that this process opens itself. */
export class LateRows implements JobRows {
  readonly #opts: StoreOpts;
  #opened: Promise<JobRows> | undefined;

  constructor(opts: StoreOpts) {
    this.#opts = opts;
  }

  #rows(): Promise<JobRows> {
    return this.#opened ??= import("./open_rows.ts").then(({ openRows }) => openRows(this.#opts));
  }

  /** As {@linkcode JobRows} says. */
  async saveJob(write: JobWrite): Promise<boolean> {
    return await (await this.#rows()).saveJob(write);
  }

  /** As {@linkcode JobRows} says. */
  async saveReturn(write: ReturnWrite): Promise<"stored" | "duplicate"> {
    return await (await this.#rows()).saveReturn(write);
  }

  /** As {@linkcode JobRows} says. */
  async saveAck(write: AckWrite): Promise<void> {
    await (await this.#rows()).saveAck(write);
  }

  /** As {@linkcode JobRows} says. */
  async saveOutput(write: OutputWrite): Promise<Appended> {
    return await (await this.#rows()).saveOutput(write);
  }

  /** As {@linkcode JobRows} says. */
  async saveBatch(write: BatchWrite): Promise<void> {
    await (await this.#rows()).saveBatch(write);
  }

  /** As {@linkcode JobRows} says. */
  async job(jid: string): Promise<JobRow | undefined> {
    return await (await this.#rows()).job(jid);
  }

  /** As {@linkcode JobRows} says. */
  async returns(jid: string, id: string | null): Promise<JobReturnRow[]> {
    return await (await this.#rows()).returns(jid, id);
  }

  /** As {@linkcode JobRows} says. */
  async acks(jid: string): Promise<Omit<AckWrite, "jid">[]> {
    return await (await this.#rows()).acks(jid);
  }

  /** As {@linkcode JobRows} says. */
  async outputs(jid: string, id: string): Promise<Uint8Array[]> {
    return await (await this.#rows()).outputs(jid, id);
  }

  /** As {@linkcode JobRows} says. */
  async outputIds(jid: string): Promise<string[]> {
    return await (await this.#rows()).outputIds(jid);
  }

  /** As {@linkcode JobRows} says. */
  async batch(jid: string): Promise<Uint8Array | undefined> {
    return await (await this.#rows()).batch(jid);
  }

  async activeBatches(): Promise<{ readonly jid: string; readonly state: Uint8Array }[]> {
    return await (await this.#rows()).activeBatches();
  }

  /** As {@linkcode JobRows} says. */
  async page(query: PageQuery): Promise<PageRow[]> {
    return await (await this.#rows()).page(query);
  }

  /** As {@linkcode JobRows} says. */
  async clean(limits: CleaningLimits): Promise<number> {
    return await (await this.#rows()).clean(limits);
  }

  async status(): Promise<RowsStatus> {
    return await (await this.#rows()).status();
  }

  async close(): Promise<void> {
    await (await this.#opened)?.close();
  }
}
