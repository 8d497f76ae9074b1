/**
 * Rows of jobs whose methods are calls with a name and one argument, which may pass to another thread, or wait until
 * the rows are there.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import type { CleaningLimits } from "#lib/jobs/store.ts";
import type {
  AckWrite,
  AnsweredRow,
  BatchWrite,
  JobReturnRow,
  JobRow,
  JobRows,
  JobWrite,
  OutputWrite,
  PageQuery,
  PageRow,
  ReturnsPart,
  ReturnWrite,
  RowsStatus,
} from "./rows.ts";

/** Rows that pass each call on. */
export abstract class CalledRows implements JobRows {
  /** @returns What {@linkcode performCall} gives for the rows themselves. */
  protected abstract call<T>(method: keyof JobRows, argument?: unknown): Promise<T>;

  /** As {@linkcode JobRows} says. */
  saveJob(write: JobWrite): Promise<boolean> {
    return this.call("saveJob", write);
  }

  /** As {@linkcode JobRows} says. */
  saveReturn(write: ReturnWrite): Promise<"stored" | "duplicate"> {
    return this.call("saveReturn", write);
  }

  /** As {@linkcode JobRows} says. */
  saveAck(write: AckWrite): Promise<void> {
    return this.call("saveAck", write);
  }

  /** As {@linkcode JobRows} says. */
  saveOutput(write: OutputWrite): ReturnType<JobRows["saveOutput"]> {
    return this.call("saveOutput", write);
  }

  /** As {@linkcode JobRows} says. */
  saveBatch(write: BatchWrite): Promise<void> {
    return this.call("saveBatch", write);
  }

  /** As {@linkcode JobRows} says. */
  job(jid: string): Promise<JobRow | undefined> {
    return this.call("job", jid);
  }

  /** As {@linkcode JobRows} says. */
  returns(jid: string, id: string | null, part?: ReturnsPart): Promise<JobReturnRow[]> {
    return this.call("returns", [jid, id, part]);
  }

  /** As {@linkcode JobRows} says. */
  acks(jid: string): ReturnType<JobRows["acks"]> {
    return this.call("acks", jid);
  }

  /** As {@linkcode JobRows} says. */
  answered(jids: readonly string[]): Promise<AnsweredRow[]> {
    return this.call("answered", jids);
  }

  /** As {@linkcode JobRows} says. */
  outputs(jid: string, id: string): Promise<Uint8Array[]> {
    return this.call("outputs", [jid, id]);
  }

  /** As {@linkcode JobRows} says. */
  outputIds(jid: string): Promise<string[]> {
    return this.call("outputIds", jid);
  }

  /** As {@linkcode JobRows} says. */
  batch(jid: string): Promise<Uint8Array | undefined> {
    return this.call("batch", jid);
  }

  activeBatches(): ReturnType<JobRows["activeBatches"]> {
    return this.call("activeBatches");
  }

  /** As {@linkcode JobRows} says. */
  page(query: PageQuery): Promise<PageRow[]> {
    return this.call("page", query);
  }

  /** As {@linkcode JobRows} says. */
  clean(limits: CleaningLimits): Promise<number> {
    return this.call("clean", limits);
  }

  status(): Promise<RowsStatus> {
    return this.call("status");
  }

  /** Ends the calls. */
  abstract close(): Promise<void>;
}

/**
 * Does a call.
 * @param argument What {@linkcode CalledRows} of the same build gave.
 * @throws {StoreError} If there is no such method.
 */
export function performCall(rows: JobRows, method: string, argument: unknown): Promise<unknown> {
  switch (method) {
    case "saveJob":
      return rows.saveJob(argument as JobWrite);
    case "saveReturn":
      return rows.saveReturn(argument as ReturnWrite);
    case "saveAck":
      return rows.saveAck(argument as AckWrite);
    case "saveOutput":
      return rows.saveOutput(argument as OutputWrite);
    case "saveBatch":
      return rows.saveBatch(argument as BatchWrite);
    case "returns":
      return rows.returns(...argument as [string, string | null, ReturnsPart?]);
    case "answered":
      return rows.answered(argument as string[]);
    case "outputs":
      return rows.outputs(...argument as [string, string]);
    case "page":
      return rows.page(argument as PageQuery);
    case "clean":
      return rows.clean(argument as CleaningLimits);
    case "activeBatches":
    case "status":
      return rows[method]();
    case "job":
    case "acks":
    case "outputIds":
    case "batch":
      return rows[method](argument as string);
    default:
      throw new StoreError(`The job store cannot do ${method}`, "");
  }
}
