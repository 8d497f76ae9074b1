/**
 * Which of Salt's tokens still live. A token is looked at once a second at most: each of its streams asks before each
 * event.
 * @module
 */

import { RememberedValue } from "#lib/runtime/remembered_value.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import type { Value } from "#lib/values/value.ts";

/** How long an answer lasts, in milliseconds. */
const LASTS_MS = 900;
/** Answers that are remembered: at most as many tokens have streams as the API has connections. */
const MOST = 10_000;

/** The tokens of one API. */
export class LivingTokens {
  readonly #read: (token: Value | undefined) => unknown;
  readonly #answers = new BoundedMap<Value | undefined, RememberedValue<boolean>>(MOST);

  /** @param read The token; `undefined`: there is none, or it has expired. */
  constructor(read: (token: Value | undefined) => unknown) {
    this.#read = read;
  }

  /** Whether a token is there and has not expired; it may be so for a second longer. */
  has(token: Value | undefined): boolean {
    const known = this.#answers.get(token);
    if (known !== undefined) return known.get();
    const answer = new RememberedValue(() => this.#read(token) !== undefined, LASTS_MS);
    this.#answers.set(token, answer);
    return answer.get();
  }
}
