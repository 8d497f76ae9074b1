/**
 * Gives memory back when a thread comes to rest after work.
 *
 * V8 collects garbage when it needs room, so a thread that has nothing more to do would keep what its last work left for
 * hours: a result of 10 MB leaves 100 in each MWorker that had one. Knows nothing of what the work is.
 * Source: V8's `--expose-gc`.
 * @module
 */

/** How much work is worth a collection, in bytes of messages. */
const WORTH_BYTES = 1 << 18;
/** How long a thread does nothing before it is at rest, in milliseconds. */
const REST_MS = 1_000;

/** How long V8's own threads may take to free the buffers that were found to be garbage, in milliseconds. */
const SWEEP_MS = 200;

/** V8's own, where its flag is set (`V8_FLAGS`). */
type Collect = ((options: { readonly type: "major"; readonly execution: "sync" }) => void) | undefined;

/** One thread's work, by the bytes that it moves. */
export class IdleMemory {
  readonly #trim: () => void;
  #bytes = 0;
  #lastMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Nothing is counted yet. @param trim What else is to be done then; the C library has memory to give back as well. */
  constructor(trim: () => void = () => {}) {
    this.#trim = trim;
  }

  /** Counts a message or a job. */
  worked(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < WORTH_BYTES) return;
    this.#lastMs = performance.now();
    this.#timer ??= this.#later(REST_MS);
  }

  #later(ms: number, run = () => this.#look()): ReturnType<typeof setTimeout> {
    const timer = setTimeout(run, ms);
    Deno.unrefTimer(timer);
    return timer;
  }

  #look(): void {
    const restMs = this.#lastMs + REST_MS - performance.now();
    if (restMs > 0) {
      this.#timer = this.#later(restMs);
      return;
    }
    this.#bytes = 0;
    (globalThis as { gc?: Collect }).gc?.({ type: "major", execution: "sync" });
    this.#timer = this.#later(SWEEP_MS, () => {
      this.#timer = undefined;
      this.#trim();
    });
  }

  /** Forgets what was counted: nothing is to come any more, or somebody else counts from here. */
  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#bytes = 0;
  }
}
