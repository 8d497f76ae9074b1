/**
 * Targets of every type as one form: a condition on a minion's id, grains and pillar. The master finds the minions that
 * match it (lib/fleet/resolve_target.ts); a minion checks whether it matches itself. Knows no keys, files and sockets.
 * Source: docs.saltproject.io, "Targeting Minions".
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { DEFAULT_TARGET_DELIM } from "#lib/yaml/traverse.ts";
import { TooCostlyError } from "./budget.ts";
import { type Condition, parseCompound } from "./compound.ts";
import type { Facts } from "./facts.ts";
import { splitCompound, withoutNodegroups } from "./nodegroups.ts";
import { type Term, type TermOptions, TERMS } from "./term.ts";

/** Salt's names of the target types that are a single term. */
type SimpleType = keyof typeof TERMS;
/** Salt's names of the target types. */
export type TargetType = SimpleType | "nodegroup" | "range" | "compound" | "compound_pillar_exact";

/** The names of all target types. */
export const TARGET_TYPES: readonly string[] = [
  ...Object.keys(TERMS),
  "nodegroup",
  "range",
  "compound",
  "compound_pillar_exact",
];

/** How a target is read. */
export interface TargetOptions {
  /** Separates the levels of grains and pillar; in a compound, each term has its own. Default: `:`. */
  readonly delimiter?: string;
  /** The groups by name. Default: none. */
  readonly nodegroups?: ValueMap;
}

/** A minion as targets see it. */
export interface TargetSubject {
  readonly id: string;
  readonly grains: Facts;
  readonly pillar: Facts;
}

/** A target, and the type of that name: `list` for `-L`. */
export interface TypedTarget {
  readonly tgt: Value;
  /** Salt's `tgt_type`; absent or empty means `glob`. */
  readonly tgtType?: string;
}

/** Whether there is a target type of that name. */
export function isTargetType(name: string): name is TargetType {
  return TARGET_TYPES.includes(name);
}

function isSimple(name: string): name is SimpleType {
  return Object.hasOwn(TERMS, name);
}

/**
 * Reads a target.
 * @throws {TargetError} If its type is unknown, or it cannot be read.
 */
export function parseTarget({ tgt, tgtType }: TypedTarget, options: TargetOptions = {}): Condition {
  const type = tgtType === undefined || tgtType === "" ? "glob" : tgtType;
  if (!isTargetType(type)) throw new TargetError(`There are no targets of type "${type}"`, type);
  if (type === "range") {
    throw new TargetError("There is no range server: range targets are not built", "range");
  }
  const { delimiter = DEFAULT_TARGET_DELIM, nodegroups = new Map() } = options;
  const how: TermOptions = { delimiter, pillarExact: type === "compound_pillar_exact" };
  if (isSimple(type)) return { op: "term", term: TERMS[type](tgt, how) };
  return parseCompound(compoundWords({ tgt, tgtType: type }, nodegroups), how);
}

/**
 * The target as minions get it: a node group becomes a compound, and the groups within a compound are written out, as
 * minions do not know them.
 * @throws {TargetError} For a group that is not configured, and for one that contains itself.
 */
export function portableTarget({ tgt, tgtType }: TypedTarget, nodegroups: ValueMap): TypedTarget {
  if (tgtType !== "nodegroup" && tgtType !== "compound") return { tgt, tgtType };
  return { tgt: compoundWords({ tgt, tgtType }, nodegroups).join(" "), tgtType: "compound" };
}

function compoundWords({ tgt, tgtType }: TypedTarget, nodegroups: ValueMap): string[] {
  if (tgtType === "nodegroup") return withoutNodegroups([`N@${str(tgt)}`], nodegroups);
  if (typeof tgt !== "string" && !Array.isArray(tgt)) {
    throw new TargetError("A compound target must be a text or a list of words", "compound");
  }
  return withoutNodegroups(typeof tgt === "string" ? splitCompound(tgt) : tgt.map(str), nodegroups);
}

/** Answers for a term; `negated`: it is within an odd number of `not`. */
export type AskTerm = (term: Term, negated: boolean) => boolean;

/** Whether the condition holds. */
export function holds(condition: Condition, ask: AskTerm, negated = false): boolean {
  switch (condition.op) {
    case "term":
      return ask(condition.term, negated);
    case "not":
      return !holds(condition.of, ask, !negated);
    case "and":
      return condition.of.every((part) => holds(part, ask, negated));
    case "or":
      return condition.of.some((part) => holds(part, ask, negated));
  }
}

/** The terms of a condition. */
export function termsOf(condition: Condition): Term[] {
  if (condition.op === "term") return [condition.term];
  return condition.op === "not" ? termsOf(condition.of) : condition.of.flatMap(termsOf);
}

/**
 * Whether the target matches the minion.
 * @throws {TargetError} As {@linkcode parseTarget}; a minion then ignores the job.
 */
export function matchesTarget(target: TypedTarget, subject: TargetSubject, options: TargetOptions = {}): boolean {
  return holds(parseTarget(target, options), (term) => matchesTerm(term, subject));
}

function matchesTerm(term: Term, subject: TargetSubject): boolean {
  if (term.about === "id") return term.matches(subject.id);
  try {
    return term.matches(subject[term.about]);
  } catch (error) {
    if (error instanceof TooCostlyError) throw new TargetError(error.message, term.about);
    throw error;
  }
}
