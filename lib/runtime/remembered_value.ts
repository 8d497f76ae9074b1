/**
 * A value that is read again when it is some milliseconds old: it is asked for far more often than it changes.
 * @module
 */

/** Such a value. */
export class RememberedValue<T> {
  readonly #read: (last: T | undefined) => T;
  readonly #lastsMs: number;
  readonly #now: () => number;
  #last: { readonly atMs: number; readonly value: T } | undefined;

  /**
   * @param read Reads it; gets what it read last.
   * @param lastsMs For how long it is remembered, in milliseconds.
   * @param now The clock, in milliseconds. When it was put back, the value counts as too old.
   */
  constructor(read: (last: T | undefined) => T, lastsMs: number, now: () => number = () => performance.now()) {
    this.#read = read;
    this.#lastsMs = lastsMs;
    this.#now = now;
  }

  /**
   * The value, as it was at most so long ago.
   * @throws What reading throws; it is read again the next time.
   */
  get(): T {
    const nowMs = this.#now(), last = this.#last;
    if (last !== undefined && nowMs >= last.atMs && nowMs - last.atMs < this.#lastsMs) return last.value;
    const value = this.#read(last?.value);
    this.#last = { atMs: nowMs, value };
    return value;
  }
}
