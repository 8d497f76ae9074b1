/**
 * Python's `random.Random` with a seed: the same numbers, so that a minion's id gives the same delay here and there.
 * Not for secrets. Source: Matsumoto and Nishimura, "Mersenne Twister", 1998 (MT19937, init_by_array); docs.python.org,
 * "random".
 * @module
 */

import { sha512 } from "@noble/hashes/sha2.js";
import { isFloat, isInt, str, type Value } from "#lib/values/value.ts";

const SIZE = 624, PERIOD = 397;

/** A generator of Python's pseudo-random numbers. */
export class PythonRandom {
  readonly #state = new Uint32Array(SIZE);
  #at = SIZE;

  /** @param seed An int, or a text. Floats and others count as their text, which Python seeds otherwise. */
  constructor(seed: Value) {
    const number = isInt(seed) && !isFloat(seed) ? absolute(BigInt(seed)) : textNumber(str(seed));
    this.#initialize(words(number));
  }

  #initialize(key: readonly number[]): void {
    const state = this.#state;
    state[0] = 19_650_218;
    for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1_812_433_253, state[i - 1] ^ (state[i - 1] >>> 30)) + i;
    let i = 1, j = 0;
    const next = () => {
      if (++i < SIZE) return;
      state[0] = state[SIZE - 1];
      i = 1;
    };
    for (let k = Math.max(SIZE, key.length); k > 0; k--) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1_664_525)) + key[j] + j;
      next();
      j = (j + 1) % key.length;
    }
    for (let k = SIZE - 1; k > 0; k--) {
      state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1_566_083_941)) - i;
      next();
    }
    state[0] = 0x80000000;
  }

  #word(): number {
    const state = this.#state;
    if (this.#at >= SIZE) {
      for (let i = 0; i < SIZE; i++) {
        const mixed = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff);
        state[i] = state[(i + PERIOD) % SIZE] ^ (mixed >>> 1) ^ ((mixed & 1) * 0x9908b0df);
      }
      this.#at = 0;
    }
    let word = state[this.#at++];
    word ^= word >>> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return (word ^ (word >>> 18)) >>> 0;
  }

  #bits(count: number): bigint {
    let value = 0n;
    for (let bits = 0; bits < count; bits += 32) {
      const left = count - bits;
      const word = this.#word();
      value |= BigInt(left < 32 ? word >>> (32 - left) : word) << BigInt(bits);
    }
    return value;
  }

  /** An int from 0 to below `limit`. */
  below(limit: bigint): bigint {
    const bits = limit.toString(2).length;
    for (;;) {
      const value = this.#bits(bits);
      if (value < limit) return value;
    }
  }

  /** `count` of the `items`, each at most once, in Python's order. */
  sample<T>(items: readonly T[], count: number): T[] {
    const below = (limit: number) => Number(this.below(BigInt(limit)));
    const few = count > 5 ? 21 + 4 ** Math.ceil(Math.log(count * 3) / Math.log(4)) : 21;
    if (items.length <= few) {
      const pool = [...items];
      return Array.from({ length: count }, (_, i) => {
        const at = below(pool.length - i);
        const chosen = pool[at];
        pool[at] = pool[items.length - i - 1];
        return chosen;
      });
    }
    const indexes = new Set<number>();
    return Array.from({ length: count }, () => {
      let at = below(items.length);
      while (indexes.has(at)) at = below(items.length);
      indexes.add(at);
      return items[at];
    });
  }
}

function absolute(n: bigint): bigint {
  return n < 0n ? -n : n;
}

/** Python's number of a seed that is a text: its bytes and their SHA-512. */
function textNumber(text: string): bigint {
  const bytes = new TextEncoder().encode(text);
  return BigInt(`0x${bytes.toHex()}${sha512(bytes).toHex()}`);
}

/** The number in words of 32 bits, the lowest first. */
function words(n: bigint): number[] {
  const words: number[] = [];
  for (let rest = n; rest > 0n; rest >>= 32n) words.push(Number(rest & 0xffffffffn));
  return words.length === 0 ? [0] : words;
}
