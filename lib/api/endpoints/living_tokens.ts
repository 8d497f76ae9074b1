/**
 * Which of Salt's tokens still live. A token is looked at once a second at most: each of its streams asks before each
 * event.
 * @module
 */

import type { Value } from "#lib/values/value.ts";

/** How long an answer lasts, in milliseconds. */
const LASTS_MS = 900;
/** Number of answers from which those that are over are forgotten. */
const MANY = 1_000;

interface Answer {
  readonly atMs: number;
  readonly lives: boolean;
}

/** The tokens of one API. */
export class LivingTokens {
  readonly #read: (token: Value | undefined) => unknown;
  readonly #answers = new Map<Value | undefined, Answer>();

  /** @param read The token; `undefined`: there is none, or it has expired. */
  constructor(read: (token: Value | undefined) => unknown) {
    this.#read = read;
  }

  /** Whether a token is there and has not expired; it may be so for a second longer. */
  has(token: Value | undefined): boolean {
    const nowMs = performance.now(), known = this.#answers.get(token);
    if (known !== undefined && nowMs - known.atMs < LASTS_MS) return known.lives;
    if (this.#answers.size >= MANY) this.#forget(nowMs);
    const lives = this.#read(token) !== undefined;
    this.#answers.set(token, { atMs: nowMs, lives });
    return lives;
  }

  #forget(nowMs: number): void {
    for (const [token, { atMs }] of this.#answers) if (nowMs - atMs >= LASTS_MS) this.#answers.delete(token);
  }
}
