/**
 * Newer shared keys of a master, without a sign-in: the announced one is asked for ahead of its use, and one that was
 * not announced when a publish cannot be read. Neither needs RSA.
 * Source: docs/protocol.md "Commands of minions" (`_rekey`).
 * @module
 */

import { Crypticle } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, KeyError, messageOf, RequestTimeoutError, WireError } from "#lib/errors.ts";
import { REKEY_COMMAND } from "#lib/protocol/rekey.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import type { SignInCredentials } from "./sign_in.ts";

/** Within this time an old session key is replaced, in milliseconds. */
const RENEW_MS = 600_000;
/** Minions ask for an announced key within this share of the time, so that all have it when it is used. */
const ASK_SHARE = 0.8;
/** What {@linkcode SharedKeyRenewal.renew} answers with a sign-in. */
const UNANSWERED = [AuthenticationError, WireError, KeyError, RequestTimeoutError] as const;

/** The connection whose key is renewed. */
interface RenewedLink {
  /** `tcp://host:port`, for the log. */
  readonly address: string;
  readonly credentials: SignInCredentials | undefined;
  readonly isSigningIn: boolean;
  request(load: ValueMap, signal: AbortSignal): Promise<Value>;
  signIn(signal: AbortSignal): Promise<SignInCredentials>;
}

/** What the connection gives to the renewal alone. */
interface RenewalParts {
  readonly log: Logger;
  /** Aborts when the link is closed. */
  readonly closing: AbortSignal;
  /** Uses these keys from now on. */
  take(credentials: SignInCredentials): void;
}

/** Keeps a link's shared key up to date. */
export class SharedKeyRenewal {
  readonly #link: RenewedLink;
  readonly #parts: RenewalParts;
  /** The announced shared key. */
  #next: string | undefined;
  #asking: Promise<void> | undefined;
  #renewing: Promise<SignInCredentials> | undefined;
  /** A sign-in that replaces an old session key. */
  #signInLater: Promise<void> | undefined;

  constructor(link: RenewedLink, parts: RenewalParts) {
    this.#link = link;
    this.#parts = parts;
  }

  /** A sign-in gave the present key: an announced one is forgotten. */
  forgetNext(): void {
    this.#next = undefined;
  }

  /** Asks for the announced shared key, at a random moment within that time. */
  expectNext(withinS: number, signal: AbortSignal): void {
    if (this.#link.credentials?.canRekey !== true) return;
    const both = AbortSignal.any([signal, this.#parts.closing]);
    this.#asking ??= this.#askNext(Math.random() * withinS * ASK_SHARE * 1000, both)
      // Then the key is asked for when it is used.
      .catch((error) => both.aborted || this.#parts.log.debug(`There is no next shared key: ${messageOf(error)}`))
      .then(() => void (this.#asking = undefined));
  }

  async #askNext(waitMs: number, signal: AbortSignal): Promise<void> {
    await sleep(waitMs, signal);
    const answer = await this.#link.request(map({ cmd: REKEY_COMMAND }), signal);
    const next = isMap(answer) ? answer.get("next") : undefined;
    if (typeof next !== "string" || next === "") return;
    new Crypticle(next); // throws if it is not a key
    this.#next = next;
    this.#parts.log.debug("Got the next shared key of the master");
  }

  /**
   * Takes the announced shared key, if `isUsed` says that the master uses it.
   * @returns Whether it has become the shared key.
   */
  takeNext(isUsed: (sharedKey: string) => boolean): boolean {
    const next = this.#next, { credentials, address } = this.#link;
    if (next === undefined || credentials === undefined || !isUsed(next)) return false;
    this.#next = undefined;
    this.#parts.log.info(`Took the announced shared key of the master at ${address}`);
    this.#parts.take({ ...credentials, sharedKey: next });
    return true;
  }

  /**
   * Gets the shared key again, when a publish cannot be read: by a request, if the master knows it, else by a sign-in.
   * Concurrent calls share one.
   * @throws {SignInError} If waiting cannot help.
   */
  renew(signal: AbortSignal): Promise<SignInCredentials> {
    this.#renewing ??= this.#renewOnce(signal).finally(() => this.#renewing = undefined);
    return this.#renewing;
  }

  async #renewOnce(signal: AbortSignal): Promise<SignInCredentials> {
    const before = this.#link.credentials;
    if (before?.canRekey !== true || this.#link.isSigningIn) return await this.#link.signIn(signal);
    try {
      const answer = await this.#link.request(map({ cmd: REKEY_COMMAND }), signal);
      // The request may have been repeated after a sign-in, which gave the key as well.
      const now = this.#link.credentials;
      if (now !== before && now !== undefined) return now;
      const sharedKey = isMap(answer) ? answer.get("aes") : undefined;
      if (!isMap(answer) || typeof sharedKey !== "string") throw new WireError("the master gave no key");
      new Crypticle(sharedKey); // throws if it is not a key
      if (answer.get("renew") === true) this.#signInWithin(signal);
      this.#parts.log.info(`Got the new shared key of the master at ${this.#link.address}`);
      const credentials = { ...before, sharedKey };
      this.#parts.take(credentials);
      return credentials;
    } catch (error) {
      signal.throwIfAborted();
      if (!UNANSWERED.some((kind) => error instanceof kind)) throw error;
      this.#parts.log.debug(`${messageOf(error)}; signing in instead`);
      return await this.#link.signIn(signal);
    }
  }

  /** An old session key is replaced at a sign-in: at a random moment, as the whole fleet's may be old. */
  #signInWithin(signal: AbortSignal): void {
    const { closing, log } = this.#parts;
    this.#signInLater ??= sleep(Math.random() * RENEW_MS, AbortSignal.any([signal, closing]))
      .then(() => this.#link.signIn(signal))
      .then(() => {}, (error) => {
        if (!signal.aborted && !closing.aborted) log.error(`The session key stays as it is: ${messageOf(error)}`);
      })
      .finally(() => this.#signInLater = undefined);
  }
}
