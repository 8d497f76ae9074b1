/**
 * Which minions a target matches: `glob`, `pcre` and `list` on the minion's id. The master asks which accepted ids
 * match; the minion asks whether it matches. Knows no keys and no sockets.
 * Source: docs.saltproject.io, "Targeting Minions".
 * @module
 */

import { RegexError, TargetError } from "../errors.ts";
import { compileGlob } from "../text/glob.ts";
import { pythonRegex } from "../text/regex.ts";
import type { Value } from "../values/value.ts";

/** The supported target types. */
export type TargetType = "glob" | "pcre" | "list";

/** Maximum time for matching one target, in milliseconds: it blocks other requests of the thread. */
const MAX_MATCHING_MS = 5_000;

/** The result of resolving a target on the master. */
export interface Resolved {
  /** The accepted ids that match, without duplicates. */
  readonly minions: string[];
  /** The ids of a list that are not accepted. */
  readonly missing: string[];
}

/** For each type, a function that makes a test for ids. */
const MATCHERS: Readonly<Record<TargetType, (tgt: Value) => (id: string) => boolean>> = {
  glob: (tgt) => typeof tgt === "string" ? compileGlob(tgt) : () => false,
  pcre: (tgt) => typeof tgt === "string" ? matchRegex(tgt) : () => false,
  list: (tgt) => {
    const wanted = new Set(listedIds(tgt));
    return (id) => wanted.has(id);
  },
};

/**
 * Resolves a target to minions.
 * @param tgtType Salt's `tgt_type`; absent or empty means `glob`.
 * @param acceptedIds The ids with accepted keys; the result has the same order.
 * @throws {TargetError} For an unknown type and for an invalid pattern.
 */
export function resolveTarget(tgt: Value, tgtType: string | undefined, acceptedIds: readonly string[]): Resolved {
  const type = asTargetType(tgtType);
  if (type !== "list") return { minions: acceptedIds.filter(MATCHERS[type](tgt)), missing: [] };
  const accepted = new Set(acceptedIds);
  const minions: string[] = [], missing: string[] = [];
  for (const id of new Set(listedIds(tgt))) (accepted.has(id) ? minions : missing).push(id);
  return { minions, missing };
}

/**
 * Whether the target matches the minion `id`.
 * @throws {TargetError} As {@linkcode resolveTarget}; a minion then ignores the job.
 */
export function matchesTarget(tgt: Value, tgtType: string | undefined, id: string): boolean {
  return MATCHERS[asTargetType(tgtType)](tgt)(id);
}

/** The ids of a list: a comma-separated string or an array; empty names are skipped. */
function listedIds(tgt: Value): string[] {
  if (typeof tgt === "string") return tgt.split(",").filter((id) => id !== "");
  return Array.isArray(tgt) ? tgt.filter((id) => typeof id === "string") : [];
}

function matchRegex(tgt: string): (id: string) => boolean {
  const regex = readable(() => pythonRegex(tgt));
  const started = performance.now();
  return (id) => {
    // Matching one id is bounded; many ids may still take too long for one request.
    if (performance.now() - started > MAX_MATCHING_MS) {
      throw new TargetError(`${tgt.slice(0, 200)} takes too long`, "pcre");
    }
    return readable(() => regex.test(id));
  };
}

/** Runs `act`; an invalid or too expensive expression becomes a TargetError. */
function readable<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new TargetError(error.message, "pcre");
  }
}

/** Whether the target type `name` is supported. */
export function isTargetType(name: string): name is TargetType {
  return Object.hasOwn(MATCHERS, name);
}

function asTargetType(tgtType: string | undefined): TargetType {
  const name = tgtType === undefined || tgtType === "" ? "glob" : tgtType;
  if (isTargetType(name)) return name;
  throw new TargetError(`Cannot resolve a target of type "${name}": known are glob, pcre and list`, name);
}
