/**
 * Which keys a minion takes for its master's, while one pair follows another: by statements that each key makes about
 * the next one. Knows no sockets.
 * Source: docs/protocol.md "A key that follows another".
 * @module
 */

import { fingerprint, samePem } from "#lib/crypto/pem.ts";
import { PublicKey, type SigningAlgorithm } from "#lib/crypto/rsa.ts";
import { type KeyStatement, pathOfKeys, readStatements } from "./key_statement.ts";
import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { Value } from "#lib/values/value.ts";

/** A key beside the one of the sign-in that signs for the master too. */
export interface OtherMasterKey {
  readonly key: PublicKey;
  /** Until when, in milliseconds since the epoch. */
  readonly untilMs: number;
}

/** Keys that sign what a master sends after a sign-in. */
export interface SigningMaster {
  /** The key of the sign-in. */
  readonly masterKey: PublicKey;
  /** During a rotation the one before it, or the next one. */
  readonly otherKeys?: readonly OtherMasterKey[];
}

/** The keys that sign for the master now. */
export function keysOfMaster({ masterKey, otherKeys = [] }: SigningMaster, nowMs: number): PublicKey[] {
  return [masterKey, ...otherKeys.filter(({ untilMs }) => nowMs < untilMs).map(({ key }) => key)];
}

/** Whether one of them has signed `data`. */
export function signedByMaster(
  master: SigningMaster,
  { algorithm, data, sig }: {
    readonly algorithm: SigningAlgorithm;
    readonly data: Uint8Array;
    readonly sig: Uint8Array;
  },
): boolean {
  return keysOfMaster(master, Date.now()).some((key) => key.verify(algorithm, data, sig));
}

/** What a master's statements say to a minion. */
export class MasterStatements {
  readonly #statements: readonly KeyStatement[];

  /**
   * @param packed The field of the sign-in reply.
   * @throws {WireError} If it holds no statements.
   */
  constructor(packed: Value | undefined) {
    this.#statements = readStatements(packed);
  }

  /**
   * Whether a minion that trusts `known` may trust `offered`.
   * @throws {KeyError} If a key on the way cannot be read.
   */
  leadTo(offered: string, known: string): boolean {
    return pathOfKeys("master", this.#statements, { from: known, to: offered }) !== undefined;
  }

  /**
   * Whether a key with this fingerprint was the master's, and leads to `offered`.
   * @throws {KeyError} As {@linkcode leadTo}.
   */
  leadFromFingerprint(finger: string, hashType: string, offered: string): boolean {
    const first = this.#statements.find(({ old }) => fingerprint(old, hashType) === finger);
    return first !== undefined && this.leadTo(offered, first.old);
  }

  /**
   * The key that `trusted` says will follow it.
   * @throws {KeyError} As {@linkcode leadTo}.
   */
  after(trusted: string): string | undefined {
    const last = this.#statements.findLast(({ old }) => samePem(old, trusted));
    return last && this.leadTo(last.next, trusted) ? last.next : undefined;
  }

  /**
   * The keys besides `trusted` that sign for the master: the next one from now on, the one before until the statement
   * about it ends.
   * @throws {KeyError} As {@linkcode leadTo}.
   */
  besides(trusted: string): OtherMasterKey[] {
    const next = this.after(trusted);
    const before = this.#statements.findLast(({ next }) => samePem(next, trusted));
    return [
      ...next === undefined ? [] : [{ key: PublicKey.fromPem(next), untilMs: Infinity }],
      ...before === undefined || !this.leadTo(trusted, before.old)
        ? []
        : [{ key: PublicKey.fromPem(before.old), untilMs: before.notAfterMs }],
    ];
  }
}

/** The file of the key that the trusted one has announced. */
function announcedPath(trustedPath: string): string {
  return trustedPath.replace(/\.pub$/, "_next.pub");
}

/** The key that the trusted one has announced; `undefined`: none. */
export function announcedKey(trustedPath: string): string | undefined {
  return readTextFileIfExists(announcedPath(trustedPath));
}

/**
 * Keeps the announced key; without one the file goes. A crash between this and the write of the trusted key leaves one
 * that is trusted already.
 */
export function keepAnnouncedKey(trustedPath: string, pem: string | undefined): void {
  const kept = announcedKey(trustedPath);
  if (pem === undefined) {
    if (kept !== undefined) removeIfExists(announcedPath(trustedPath), { sync: true });
  } else if (kept === undefined || !samePem(kept, pem)) {
    writeFileAtomic(announcedPath(trustedPath), pem, { mode: 0o644, sync: true });
  }
}
