/**
 * Records a batch job while it runs: its state in the job store, for `salt-run batch.status`, and the events
 * `salt/batch/<jid>/…`. Source: Salt 3008.3 `salt/utils/batch_output.py`.
 * @module
 */

import type { EventData } from "#lib/bus/event.ts";
import { StoreError } from "#lib/errors.ts";
import type { BatchState, JobStore } from "#lib/jobs/store.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { hasReturned } from "#lib/protocol/outcome.ts";
import { batchEvent } from "#lib/protocol/tags.ts";
import type { Answer } from "#lib/commands/report/answers.ts";
import { float, map } from "#lib/values/value.ts";

export interface BatchRecordParts {
  readonly store: JobStore["batches"];
  /** Fires an event on the master's bus. */
  fire(tag: string, data: EventData): Promise<unknown>;
}

/** Shortest time between two writes of the state, in milliseconds: with thousands of minions it is large. */
const WRITE_MS = 500;

/** The record of one batch job. */
export class BatchRecord {
  readonly #parts: BatchRecordParts;
  readonly #state: BatchState;
  readonly #pending: Set<string>;
  readonly #active: Map<string, number>;
  readonly #done: Map<string, number>;
  readonly #failed: Map<string, string>;
  #timer: Timer | undefined;
  #writing: Promise<unknown> = Promise.resolve();
  #halted: string | undefined;
  /**
   * Whether this user may write the master's files. A user in `publisher_acl` may not; the batch then runs without a
   * record.
   */
  #writable = true;

  private constructor(state: BatchState, parts: BatchRecordParts) {
    this.#parts = parts;
    this.#state = state;
    this.#pending = new Set(state.pending);
    this.#active = new Map(state.active);
    this.#done = new Map(state.done);
    this.#failed = new Map(state.failed);
  }

  /**
   * Begins the record of a batch.
   * @throws {StoreError} If it cannot be kept, though this user may write the master's files.
   */
  static async start(state: BatchState, parts: BatchRecordParts): Promise<BatchRecord> {
    const record = new BatchRecord(state, parts);
    record.#save();
    await record.#writing;
    record.#fireEvent("new");
    return record;
  }

  /** The job was sent to `ids`. */
  started(ids: readonly string[]): void {
    for (const id of ids) {
      this.#pending.delete(id);
      this.#active.set(id, Date.now());
    }
    this.#changed();
  }

  /** A minion has answered. */
  answered({ id, retcode, outcome }: Answer): void {
    this.#active.delete(id);
    if (hasReturned(outcome)) this.#done.set(id, retcode);
    else this.#failed.set(id, outcome);
    this.#changed();
  }

  /**
   * The batch is over.
   * @param halted The reason, if it ended early.
   */
  async end(halted: string | undefined): Promise<void> {
    clearTimeout(this.#timer);
    this.#halted = halted;
    this.#save();
    this.#fireEvent(halted === undefined ? "complete" : "halted");
    await this.#writing;
  }

  #changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#save();
      this.#fireEvent("progress");
    }, WRITE_MS);
  }

  /** After what was begun before. */
  #save(): void {
    const state: BatchState = {
      ...this.#state,
      pending: [...this.#pending],
      active: new Map(this.#active),
      done: new Map(this.#done),
      failed: new Map(this.#failed),
      halted: this.#halted,
      progressMs: Date.now(),
      pid: Deno.pid,
    };
    this.#writing = this.#writing.then(() => this.#write(state));
    this.#writing.catch(() => {}); // end() throws it
  }

  async #write(state: BatchState): Promise<void> {
    if (!this.#writable) return;
    try {
      await this.#parts.store.save(state);
    } catch (error) {
      if (!(error instanceof StoreError && error.cause instanceof Deno.errors.PermissionDenied)) throw error;
      this.#writable = false;
    }
  }

  #fireEvent(what: "new" | "progress" | "complete" | "halted"): void {
    const { jid, fun, tgt, tgtType, user, minions, size, driver, createdMs } = this.#state;
    const duration = float((Date.now() - createdMs) / 1000);
    const counts = {
      completed: this.#done.size,
      failed: this.#failed.size,
      active: this.#active.size,
      pending: this.#pending.size,
    };
    const more = {
      new: { total_minions: minions.length, batch_size: size, driver, created: float(createdMs / 1000) },
      progress: { total: minions.length, ...counts, last_progress: float(Date.now() / 1000) },
      complete: { completed: counts.completed, failed: counts.failed, total_minions: minions.length, duration },
      halted: {
        reason: this.#halted ?? null,
        completed: counts.completed,
        failed: counts.failed,
        abandoned_active: [...this.#active.keys()].sort(),
        abandoned_pending: [...this.#pending],
        duration,
      },
    }[what];
    const data = map({ jid, fun, tgt, tgt_type: tgtType, user, ...more });
    // Events are fired in order; the batch does not wait for them.
    this.#writing = this.#writing.then(() => this.#parts.fire(batchEvent(jid, what), data));
  }
}
