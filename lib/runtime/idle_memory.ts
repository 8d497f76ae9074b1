/**
 * Frees memory when a thread becomes idle after work. V8 collects garbage only when it needs space, so an idle thread
 * would keep the garbage of its last work for hours: 100 MB in each MWorker that handled a result of 10 MB.
 * Source: V8's `--expose-gc`.
 * @module
 */

import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Amount of work after which garbage is collected as soon as a thread is idle, in bytes of messages. */
const MUCH_BYTES = 1 << 18;
/** A thread without work for this time is idle, in milliseconds. */
const REST_MS = 1_000;
/** The amount after a long idle time, in bytes: a thread with little work would otherwise keep megabytes of garbage. */
const SOME_BYTES = 1 << 14;
/** That idle time, in milliseconds. */
const LONG_REST_MS = 5_000;

/** Time for V8's own threads to free the buffers that were collected, in milliseconds. */
const SWEEP_MS = 200;

/** V8's `gc`, available with its flag (`V8_FLAGS`). */
type Collect = ((options: { readonly type: "major"; readonly execution: "sync" }) => void) | undefined;

/** Collects the garbage of this thread. Takes some milliseconds for each ten megabytes that remain in use. */
export function collectGarbage(): void {
  (globalThis as { gc?: Collect }).gc?.({ type: "major", execution: "sync" });
}

/** Counts the work of one thread by the bytes of its messages. */
export class IdleMemory {
  readonly #trim: () => void;
  #bytes = 0;
  #lastMs = 0;
  /** Whether garbage was just collected, and V8 frees what it found. */
  #sweeping = false;
  #timer: Timer | undefined;

  /** @param trim Called after a collection, for memory that the C library can free. */
  constructor(trim: () => void = () => {}) {
    this.#trim = trim;
  }

  /** Counts the bytes of a message or a job. */
  worked(bytes: number): void {
    const had = this.#bytes;
    this.#bytes += bytes;
    if (this.#bytes < SOME_BYTES) return;
    this.#lastMs = performance.now();
    const grown = had < MUCH_BYTES && this.#bytes >= MUCH_BYTES;
    if (this.#sweeping || this.#timer !== undefined && !grown) return;
    clearTimeout(this.#timer);
    this.#timer = this.#later(this.#restMs);
  }

  get #restMs(): number {
    return this.#bytes < MUCH_BYTES ? LONG_REST_MS : REST_MS;
  }

  #later(ms: number, run = () => this.#look()): Timer {
    return setTimeout(run, ms);
  }

  #look(): void {
    const restMs = this.#lastMs + this.#restMs - performance.now();
    if (restMs > 0) {
      this.#timer = this.#later(restMs);
      return;
    }
    this.#bytes = 0;
    collectGarbage();
    this.#sweeping = true;
    this.#timer = this.#later(SWEEP_MS, () => {
      this.#sweeping = false;
      // Work that came in the meantime is counted for the next idle time.
      this.#timer = this.#bytes < SOME_BYTES ? undefined : this.#later(this.#restMs);
      this.#trim();
    });
  }

  /** Sets the count to zero: no more work comes, or another object counts from here. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sweeping = false;
    this.#bytes = 0;
  }
}
