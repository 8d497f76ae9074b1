/**
 * What an operator signs of a job, in one form of bytes only: MessagePack with sorted keys and the shortest numbers, of
 * the values as minions read them. The signature and the statement are one more field of the job's load.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { compareStrings, isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The only `alg`: {@linkcode SIGNED_FIELDS} and the others, signed as job_signature.ts describes. */
export const ALGORITHM = "sshsig-ed25519";
/** The field `v`: minions refuse another one. */
export const STATEMENT_VERSION = 1;
/** The fields of a load that are signed as they are. */
export const SIGNED_FIELDS = ["jid", "fun", "arg", "tgt", "tgt_type", "user"] as const;
/**
 * Fields that a load may have, and that change what a minion does: the signed map `with` has them, and no load has
 * others than that.
 */
const OPTIONAL_FIELDS = ["delimiter", "ret_config", "ret_kwargs", "module_executors", "executor_opts", "id"] as const;
/**
 * Seconds after the time of its job id at which a statement is over at the latest: minions remember the ids of a day.
 */
export const LONGEST_S = 86_400;

/** A job to sign. */
export interface SignedJob {
  readonly jid: string;
  readonly fun: Value;
  readonly arg: Value;
  readonly tgt: Value;
  readonly tgt_type: string;
  readonly user: string;
  /** The fields of the publish besides these. */
  readonly kwargs: ValueMap;
  /** The public key of the master, as PEM. */
  readonly masterPem: string;
  /** Seconds since the epoch after which no minion may begin it. */
  readonly notAfter: number;
}

/** The name of a master in statements: the SHA-256 of its public key, as `salt-key -f master` shows it. */
export function clusterOf(masterPem: string): string {
  return fingerprint(masterPem, "sha256");
}

/** The bytes to sign for a job. */
export function statementOf(
  { jid, fun, arg, tgt, tgt_type, user, kwargs, masterPem, notAfter }: SignedJob,
): Uint8Array {
  const fields = map({
    v: STATEMENT_VERSION,
    cluster: clusterOf(masterPem),
    not_after: notAfter,
    plan: null,
    ...{ jid, fun, arg, tgt, tgt_type, user },
    with: optionalFields(kwargs),
  });
  return canonicalBytes(decode(encode(fields, "wire"), "wire"));
}

/** The fields of {@linkcode OPTIONAL_FIELDS} that a load, or the `kwargs` of a publish, has. */
export function optionalFields(load: ValueMap): ValueMap {
  const given = OPTIONAL_FIELDS.flatMap((name): [Value, Value][] => {
    const value = load.get(name);
    // A delimiter that is not named is a colon.
    return value === undefined || (name === "delimiter" && value === ":") ? [] : [[name, value]];
  });
  return new Map(given);
}

/**
 * The digest of what a job asks for, in hexadecimal digits: of what was signed, else of its id, function and arguments.
 */
export function bodyHash(load: ValueMap, signed: Uint8Array | undefined): string {
  const [jid, fun, arg] = ["jid", "fun", "arg"].map((name) => load.get(name) ?? null);
  return hashHex(signed ?? canonicalBytes(map({ jid, fun, arg })), "sha256");
}

/** The one form of a value: equal values have equal bytes. */
export function canonicalBytes(value: Value): Uint8Array {
  return encode(sorted(value), "disk");
}

function sorted(value: Value): Value {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isMap(value)) return value;
  const entries = [...value].map(([key, item]): [string, Value, Value] => {
    const plain = sorted(key);
    return [encode(plain, "disk").toHex(), plain, sorted(item)];
  });
  return new Map(entries.sort(([a], [b]) => compareStrings(a, b)).map(([, key, item]) => [key, item]));
}
