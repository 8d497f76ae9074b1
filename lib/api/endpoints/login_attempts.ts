/**
 * Counts log-ins that failed, and refuses more of them for a while: by address, and by user and address, so that
 * nobody's wrong passwords keep a user out who comes from another address.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { isLoopback } from "./api_settings.ts";

/** Failures in a minute of an address. Loopback has no limit of its own: behind a proxy all clients come from it. */
const BY_ADDRESS = 5;
/** Failures in a minute of a user from one address. */
const BY_USER = 10;
const WINDOW_MS = 60_000;
/** Names and addresses that are remembered. */
const MAX_KEYS = 10_000;

/** The failed log-ins of the last minute. */
export class LoginAttempts {
  readonly #failures = new BoundedMap<string, number[]>(MAX_KEYS);
  readonly #now: () => number;

  /** @param now The time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Seconds until this user may try again from this address; 0: now. */
  waitS({ address, user }: { readonly address: string; readonly user: string }): number {
    const waits = [this.#wait(keyOf(address, user), BY_USER)];
    if (!isLoopback(address)) waits.push(this.#wait(`address ${address}`, BY_ADDRESS));
    return Math.ceil(Math.max(...waits) / 1000);
  }

  /** @throws {ApiError} 429 if this user must wait before trying again from this address. */
  check(who: { readonly address: string; readonly user: string }): void {
    const waitS = this.waitS(who);
    if (waitS > 0) throw new ApiError(429, "Too many failed log-ins; try later", { "Retry-After": String(waitS) });
  }

  /** Notes a failure. */
  failed({ address, user }: { readonly address: string; readonly user: string }): void {
    for (const key of [keyOf(address, user), `address ${address}`]) {
      const recent = this.#recent(key);
      this.#failures.delete(key);
      this.#failures.set(key, [...recent, this.#now()].slice(-BY_USER));
    }
  }

  #recent(key: string): number[] {
    const since = this.#now() - WINDOW_MS;
    return (this.#failures.get(key) ?? []).filter((time) => time > since);
  }

  #wait(key: string, limit: number): number {
    const recent = this.#recent(key);
    return recent.length < limit ? 0 : recent[recent.length - limit] + WINDOW_MS - this.#now();
  }
}

/** Names may be long; what is remembered of them is bounded. */
function keyOf(address: string, user: string): string {
  return `user ${address} ${hashHex(user, "sha256")}`;
}
