/**
 * Whether an operator has signed a job as a minion got it, and may have it run there. Knows no sockets and no options.
 * @module
 */

import { base64Bytes } from "#lib/crypto/base64.ts";
import { messageOf, MsgpackError, TargetError, WireError } from "#lib/errors.ts";
import { FIND_JOB } from "#lib/protocol/about_jobs.ts";
import { jidMs } from "#lib/protocol/jid.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { matchesTarget, type TypedTarget } from "#lib/targeting/target.ts";
import { decode } from "#lib/values/msgpack.ts";
import { compareStrings, isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import type { AuthorizedOperator, AuthorizedOperators } from "./authorized_operators.ts";
import { unplannedRun } from "./planned_states.ts";
import { holdsFor } from "./job_signature.ts";
import {
  ALGORITHM,
  canonicalBytes,
  clusterOf,
  LONGEST_S,
  optionalFields,
  SIGNED_FIELDS,
  STATEMENT_VERSION,
} from "./job_statement.ts";

/** Where a job came, and who may sign there. */
export interface JobPlace {
  /** The minion. */
  readonly id: string;
  /** The public keys of the master that sent it, as PEM: two while one follows the other. */
  readonly masterPems: readonly string[];
  readonly operators: Pick<AuthorizedOperators, "get">;
  /**
   * Whether a target matches this minion.
   * @throws {TargetError} If it cannot be read.
   */
  matches(target: TypedTarget, delimiter: string | undefined): boolean;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

/** A signature that was checked. */
export interface CheckedJob {
  /** The bytes that were signed; none without a signature. */
  readonly body: Uint8Array;
  /** The fingerprint of the key; empty without one that is known. */
  readonly key: string;
  /** Why it must not run; `undefined`: it may. */
  readonly refused?: string;
}

const NO_BYTES = new Uint8Array();
const NO_FACTS = factsOf(new Map());
/** Targets of ids alone, which any minion can match for another one. */
const BY_ID: readonly string[] = ["glob", "pcre", "list"];

/**
 * Checks a job.
 * @param op The field of the signature in its load, which is not in `load`.
 */
export function checkJob(load: ValueMap, op: Value | undefined, place: JobPlace): CheckedJob {
  if (op === undefined) return { body: NO_BYTES, key: "", refused: "it is not signed by an operator" };
  const field = (name: string) => isMap(op) ? op.get(name) : undefined;
  const body = base64Bytes(field("body")), signature = base64Bytes(field("sig")), key = field("key");
  if (field("alg") !== ALGORITHM || body === undefined || signature === undefined || typeof key !== "string") {
    return { body: NO_BYTES, key: "", refused: "its signature has a form that this minion does not know" };
  }
  const operator = place.operators.get(key);
  if (operator === undefined) return { body, key: "", refused: "the key that signed it is not in operators_dir" };
  const refused = holdsFor(operator, body, signature)
    ? overdue(operator, place) ?? unlike(load, body, place) ?? notAllowed(load, operator, place)
    : "its signature does not hold";
  return { body, key: operator.fingerprint, refused };
}

function overdue({ expiresMs, fingerprint }: AuthorizedOperator, { nowMs }: JobPlace): string | undefined {
  return expiresMs === undefined || nowMs < expiresMs ? undefined : `the key ${fingerprint} has expired`;
}

function notAllowed(load: ValueMap, operator: AuthorizedOperator, { id }: JobPlace): string | undefined {
  const fun = load.get("fun") ?? null;
  const forbidden = (Array.isArray(fun) ? fun : [fun]).map(str).find((name) =>
    name !== FIND_JOB && !operator.mayRun(name)
  );
  if (forbidden !== undefined) return `the key ${operator.fingerprint} may not sign ${forbidden}`;
  const unplanned = unplannedRun(load);
  if (unplanned !== undefined) {
    return `${unplanned} runs what the master's files say: sign state.apply plan=HASH, with the hash of state.plan`;
  }
  return operator.mayReach(id) ? undefined : `the key ${operator.fingerprint} may not sign for ${id}`;
}

/** What in the statement is not as in the load, or is no longer true. */
function unlike(load: ValueMap, body: Uint8Array, place: JobPlace): string | undefined {
  const signed = readStatement(body);
  if (typeof signed === "string") return signed;
  if (signed.get("v") !== STATEMENT_VERSION) return "its statement has a version that this minion does not know";
  if (!place.masterPems.some((pem) => signed.get("cluster") === clusterOf(pem))) {
    return "it was signed for another master";
  }
  const jid = str(signed.get("jid") ?? ""), notAfter = toNumber(signed.get("not_after"));
  if (notAfter === undefined || place.nowMs > notAfter * 1000) return "its time is over";
  // The time of an id that is none is NaN.
  if (!(notAfter * 1000 <= jidMs(jid) + LONGEST_S * 1000)) {
    return "it was signed for longer than a minion remembers jobs";
  }
  for (const name of SIGNED_FIELDS) {
    const isTarget = name === "tgt" || name === "tgt_type";
    if (!isTarget && !same(load.get(name), signed.get(name))) return `its ${name} is not the one that was signed`;
  }
  if (!same(optionalFields(load), signed.get("with"))) return "it has options that were not signed";
  return isWider(load, signed, place) ? "its target is not the one that was signed" : undefined;
}

function readStatement(body: Uint8Array): ValueMap | string {
  try {
    const signed = decode(body, "disk");
    if (!isMap(signed)) throw new WireError("it is no map");
    if (compareStrings(canonicalBytes(signed).toHex(), body.toHex()) !== 0) throw new WireError("it has another form");
    return signed;
  } catch (error) {
    if (!(error instanceof MsgpackError) && !(error instanceof WireError)) throw error;
    return `its statement cannot be read: ${messageOf(error)}`;
  }
}

function same(a: Value | undefined, b: Value | undefined): boolean {
  return canonicalBytes(a ?? null).toHex() === canonicalBytes(b ?? null).toHex();
}

/**
 * Whether the target of a load may be one that was not signed. The master may name the ids that it found instead of the
 * target: that is not wider if the signed target matches each of them, or at least this minion if it needs data.
 */
function isWider(load: ValueMap, signed: ValueMap, { matches }: JobPlace): boolean {
  const target = targetOf(signed), { tgt, tgtType } = targetOf(load);
  if (same(tgt, target.tgt) && tgtType === target.tgtType) return false;
  if (tgtType !== "list" || !Array.isArray(tgt)) return true;
  const extra = signed.get("with"), delimiter = isMap(extra) ? extra.get("delimiter") : undefined;
  const byId = (other: string) => matchesTarget(target, { id: other, grains: NO_FACTS, pillar: NO_FACTS });
  try {
    if (BY_ID.includes(target.tgtType)) return !tgt.map(str).every(byId);
    return !matches(target, typeof delimiter === "string" ? delimiter : undefined);
  } catch (error) {
    if (error instanceof TargetError) return true;
    throw error;
  }
}

function targetOf(load: ValueMap): TypedTarget & { readonly tgtType: string } {
  return { tgt: load.get("tgt") ?? null, tgtType: str(load.get("tgt_type") ?? "") || "glob" };
}
