/**
 * What a hash of a password costs. libcrypt computes in one call, which nothing ends, and a salt may ask for
 * `rounds=999999999`: half an hour of a processor.
 * Source: crypt(5).
 * @module
 */

import { InvocationError } from "#lib/errors.ts";

/** Maximum number of rounds of SHA and similar methods: about a second. Default of libcrypt: 5,000. */
const MAX_ROUNDS = 1_000_000;
/** Maximum cost of bcrypt, which doubles the time with each step: about a second. Default: 12. */
const MAX_BCRYPT_COST = 14;

const ROUNDS = /^\$(?:[56]\$rounds=|sha1\$|md5,rounds=)([^$]*)/;
const BCRYPT = /^\$2[a-z]?\$([^$]*)/;
/** scrypt and yescrypt; their costs are letters. */
const OF_MEMORY = /^\$(?:y|gy|sm3y|7)\$/;
/** libcrypt's default cost, and less. */
const USUAL_MEMORY = /^\$(?:y|gy|sm3y)\$j[./0-9]T\$/;

/**
 * Refuses a setting (method, cost and salt) that would take long.
 * @throws {InvocationError}
 */
export function refuseCostlyHash(setting: string): void {
  const isCostly = exceeds(ROUNDS.exec(setting)?.[1], MAX_ROUNDS) ||
    exceeds(BCRYPT.exec(setting)?.[1], MAX_BCRYPT_COST) ||
    (OF_MEMORY.test(setting) && !USUAL_MEMORY.test(setting));
  if (isCostly) {
    throw new InvocationError(
      `The salt asks for too long a computation: at most ${MAX_ROUNDS} rounds, or a cost of ${MAX_BCRYPT_COST}`,
    );
  }
}

/** Whether a number in a setting is larger than `max`, or is none. libcrypt would skip blanks and take signs. */
function exceeds(digits: string | undefined, max: number): boolean {
  return digits !== undefined && !(/^\d{1,9}$/.test(digits) && Number(digits) <= max);
}
