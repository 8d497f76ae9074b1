/**
 * Gives memory back when a thread comes to rest after work.
 *
 * V8 collects garbage when it needs room, so a thread that has nothing more to do would keep what its last work left for
 * hours: a result of 10 MB leaves 100 in each MWorker that had one. Knows nothing of what the work is.
 * Source: V8's `--expose-gc`.
 * @module
 */

/** How much work is worth a collection as soon as a thread rests, in bytes of messages. */
const MUCH_BYTES = 1 << 18;
/** How long a thread does nothing before it is at rest, in milliseconds. */
const REST_MS = 1_000;
/** How much is worth one after a long rest: a thread that works a little now and then would keep megabytes of garbage. */
const SOME_BYTES = 1 << 14;
/** How long that rest is, in milliseconds. */
const LONG_REST_MS = 5_000;

/** How long V8's own threads may take to free the buffers that were found to be garbage, in milliseconds. */
const SWEEP_MS = 200;

/** V8's own, where its flag is set (`V8_FLAGS`). */
type Collect = ((options: { readonly type: "major"; readonly execution: "sync" }) => void) | undefined;

/** One thread's work, by the bytes that it moves. */
export class IdleMemory {
  readonly #trim: () => void;
  #bytes = 0;
  #lastMs = 0;
  /** Whether garbage was just collected, and V8 frees what it found. */
  #sweeping = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Nothing is counted yet. @param trim What else is to be done then; the C library has memory to give back as well. */
  constructor(trim: () => void = () => {}) {
    this.#trim = trim;
  }

  /** Counts a message or a job. */
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

  #later(ms: number, run = () => this.#look()): ReturnType<typeof setTimeout> {
    const timer = setTimeout(run, ms);
    Deno.unrefTimer(timer);
    return timer;
  }

  #look(): void {
    const restMs = this.#lastMs + this.#restMs - performance.now();
    if (restMs > 0) {
      this.#timer = this.#later(restMs);
      return;
    }
    this.#bytes = 0;
    (globalThis as { gc?: Collect }).gc?.({ type: "major", execution: "sync" });
    this.#sweeping = true;
    this.#timer = this.#later(SWEEP_MS, () => {
      this.#sweeping = false;
      // Work that came in the meantime waits for its own rest.
      this.#timer = this.#bytes < SOME_BYTES ? undefined : this.#later(this.#restMs);
      this.#trim();
    });
  }

  /** Forgets what was counted: nothing is to come any more, or somebody else counts from here. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sweeping = false;
    this.#bytes = 0;
  }
}
