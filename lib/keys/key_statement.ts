/**
 * Statements that a key is followed by another one, signed by the one before: who trusts a key so comes to the present
 * one, however many there were between, without a visit. Of the master's key pair, and of a minion's.
 * Source: docs/protocol.md "A key that follows another".
 * @module
 */

import { samePem } from "#lib/crypto/pem.ts";
import { type PrivateKey, PublicKey, type SigningAlgorithm } from "#lib/crypto/rsa.ts";
import { MsgpackError, WireError } from "#lib/errors.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";

/** Whose key it is: the master's, or that of the minion with this id. */
export type KeyOwner = "master" | { readonly minion: string };

/** One statement, as it was read; only {@linkcode pathOfKeys} says whether its signature holds. */
export interface KeyStatement {
  /** The public key before, as PEM. */
  readonly old: string;
  /** The public key after it. */
  readonly next: string;
  /** From when the new one is used, in milliseconds since the epoch. */
  readonly notBeforeMs: number;
  /** Until when the old one is used beside it. */
  readonly notAfterMs: number;
  /** The signed bytes, without the words before them. */
  readonly body: Uint8Array;
  readonly sig: Uint8Array;
}

/** The algorithm of their signatures, whatever the options say of others. */
const ALGORITHM: SigningAlgorithm = "PKCS1v15-SHA224";
/** Statements that are read of one owner; each costs a signature. */
const MAX_STATEMENTS = 200;

/**
 * What is signed: no other message of a master or minion begins like that, and no statement of one owner is one of
 * another.
 */
function signedBytes(owner: KeyOwner, body: Uint8Array): Uint8Array {
  const whose = owner === "master" ? "the master" : `the minion ${owner.minion}`;
  return joinBytes([new TextEncoder().encode(`salt: the next key of ${whose}\n`), body]);
}

/** A statement of `old` that `next` follows it. Times in milliseconds since the epoch; kept in whole seconds. */
export function stateNextKey(
  owner: KeyOwner,
  old: PrivateKey,
  { next, notBeforeMs, notAfterMs }: Pick<KeyStatement, "next" | "notBeforeMs" | "notAfterMs">,
): KeyStatement {
  const [not_before, not_after] = [notBeforeMs, notAfterMs].map((ms) => Math.ceil(ms / 1000));
  const { pem } = old.publicKey;
  const body = encode(map({ old: pem, new: next, not_before, not_after }), "wire");
  const sig = old.sign(ALGORITHM, signedBytes(owner, body));
  return { old: pem, next, notBeforeMs: not_before * 1000, notAfterMs: not_after * 1000, body, sig };
}

/** Statements as they are sent and stored. */
export function packStatements(statements: readonly KeyStatement[]): Value {
  return statements.map(({ body, sig }) => map({ body, sig }));
}

/**
 * Reads what {@linkcode packStatements} made, in its order. `undefined` is an empty list.
 * @throws {WireError} If it is something else, or too long.
 */
export function readStatements(packed: Value | undefined, most = MAX_STATEMENTS): KeyStatement[] {
  if (packed === undefined) return [];
  if (!Array.isArray(packed) || packed.length > most) throw new WireError("no statements about keys");
  return packed.map((one) => {
    const body = isMap(one) ? asBytes(one.get("body")) : undefined;
    const sig = isMap(one) ? asBytes(one.get("sig")) : undefined;
    if (body === undefined || sig === undefined) throw new WireError("a statement about a key without its parts");
    return { ...readBody(body), body, sig };
  });
}

function readBody(body: Uint8Array): Omit<KeyStatement, "body" | "sig"> {
  let fields: Value;
  try {
    fields = decode(body, "wire", { memory: 100_000, depth: 4, keyBytes: 64, otherKeys: 0 });
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    throw new WireError(`a statement about a key that cannot be read: ${error.message}`);
  }
  const field = (name: string) => isMap(fields) ? fields.get(name) : undefined;
  const old = field("old"), next = field("new");
  const notBefore = toNumber(field("not_before")), notAfter = toNumber(field("not_after"));
  if (typeof old !== "string" || typeof next !== "string" || notBefore === undefined || notAfter === undefined) {
    throw new WireError("a statement about a key lacks a field");
  }
  return { old, next, notBeforeMs: notBefore * 1000, notAfterMs: notAfter * 1000 };
}

/**
 * The statements that lead from the key `from` to the key `to`, one after the other as they are listed, each signed by
 * the key before; `undefined` if none do. Between the same key there are none to follow: an empty list.
 * @throws {KeyError} If a key on the way cannot be read.
 */
export function pathOfKeys(
  owner: KeyOwner,
  statements: readonly KeyStatement[],
  { from, to }: { readonly from: string; readonly to: string },
): readonly KeyStatement[] | undefined {
  if (samePem(from, to)) return [];
  // Whoever sends them may name the same keys again and again: each signature is computed once.
  const checked = new Map<KeyStatement, boolean>();
  const isSigned = (statement: KeyStatement): boolean => {
    const known = checked.get(statement) ?? holds(owner, statement);
    checked.set(statement, known);
    return known;
  };
  // A rotation that was given up leaves a statement that leads nowhere.
  for (const first of statements.keys()) {
    let at = from;
    for (let i = first; i < statements.length && samePem(statements[i].old, at); i++) {
      if (!isSigned(statements[i])) break;
      at = statements[i].next;
      if (samePem(at, to)) return statements.slice(first, i + 1);
    }
  }
  return undefined;
}

/** Whether the key before has signed it. */
function holds(owner: KeyOwner, { old, body, sig }: KeyStatement): boolean {
  return PublicKey.fromPem(old).verify(ALGORITHM, signedBytes(owner, body), sig);
}
