/**
 * Chance from a seed: the same seed gives the same numbers.
 * @module
 */

/** A generator of pseudo-random numbers (mulberry32). */
export class Random {
  #state: number;

  /** @param seed Any integer. */
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number from 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A number between two others. */
  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of several values. */
  pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.next() * values.length)];
  }

  /** Fills an array with bytes. */
  fill(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.next() * 256;
  }
}
