/**
 * Which minions a target means: `glob`, `pcre` and `list` on the minion's id.
 * The master asks which accepted ids it is to wait for; the minion asks whether it is meant. Knows no keys and no sockets.
 * Source: docs.saltproject.io, "Targeting Minions".
 * @module
 */

import { RegexError, TargetError } from "../errors.ts";
import { compileGlob } from "../text/glob.ts";
import { pythonRegex } from "../text/regex.ts";
import type { Value } from "../values/value.ts";

/** The kinds of target that are understood. */
export type TargetType = "glob" | "pcre" | "list";

/** How long one expression may keep its thread from other requests, in milliseconds. */
const MAX_MATCHING_MS = 5_000;

/** What a target means to the master. */
export interface Resolved {
  /** The accepted ids that it matches, each once. */
  readonly minions: string[];
  /** The ids that a list names and nobody has accepted. */
  readonly missing: string[];
}

/** How a target of a type tells whether an id is meant. */
const MATCHERS: Readonly<Record<TargetType, (tgt: Value) => (id: string) => boolean>> = {
  glob: (tgt) => typeof tgt === "string" ? compileGlob(tgt) : () => false,
  pcre: (tgt) => typeof tgt === "string" ? matchRegex(tgt) : () => false,
  list: (tgt) => {
    const wanted = new Set(listedIds(tgt));
    return (id) => wanted.has(id);
  },
};

/**
 * The minions that a target means.
 * @param tgtType Salt's `tgt_type`; absent or empty is `glob`.
 * @param acceptedIds The ids with accepted keys, in the order wanted back.
 * @throws {TargetError} For a type that is not understood, and for a pattern that cannot be read.
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
 * Whether the minion `id` is meant.
 * @throws {TargetError} As {@linkcode resolveTarget}; a minion then leaves the job alone.
 */
export function matchesTarget(tgt: Value, tgtType: string | undefined, id: string): boolean {
  return MATCHERS[asTargetType(tgtType)](tgt)(id);
}

/** The ids that a list names: a comma-separated string or an array; empty names do not count. */
function listedIds(tgt: Value): string[] {
  if (typeof tgt === "string") return tgt.split(",").filter((id) => id !== "");
  return Array.isArray(tgt) ? tgt.filter((id) => typeof id === "string") : [];
}

function matchRegex(tgt: string): (id: string) => boolean {
  const regex = readable(() => pythonRegex(tgt));
  const started = performance.now();
  return (id) => {
    // Each id is bounded; many may still be too much for one request.
    if (performance.now() - started > MAX_MATCHING_MS) {
      throw new TargetError(`${tgt.slice(0, 200)} takes too long`, "pcre");
    }
    return readable(() => regex.test(id));
  };
}

/** What `act` gives; an expression that cannot be read, or takes no end, is a target that cannot. */
function readable<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RegexError)) throw error;
    throw new TargetError(error.message, "pcre");
  }
}

/** Whether targets of the type `name` are understood. */
export function isTargetType(name: string): name is TargetType {
  return Object.hasOwn(MATCHERS, name);
}

function asTargetType(tgtType: string | undefined): TargetType {
  const name = tgtType === undefined || tgtType === "" ? "glob" : tgtType;
  if (isTargetType(name)) return name;
  throw new TargetError(`Cannot resolve a target of type "${name}": known are glob, pcre and list`, name);
}
