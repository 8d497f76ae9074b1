/**
 * The terms of targets: conditions on a minion's id, grains or pillar. One table serves the simple target types and
 * the letters of compound targets.
 * Source: docs.saltproject.io, "Targeting Minions"; Salt 3008.3 `salt/matchers`.
 * @module
 */

import { RegexError, TargetError } from "#lib/errors.ts";
import { compileGlob, isGlob } from "#lib/text/glob.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import type { Value } from "#lib/values/value.ts";
import { type Comparison, DataExpression } from "./data_match.ts";
import type { Facts } from "./facts.ts";
import { compileIpMatch } from "./ip_match.ts";

/** A term about a minion's id. */
export interface IdTerm {
  readonly about: "id";
  /** @throws {TargetError} If it takes too long. */
  matches(id: string): boolean;
  /** For a list: its ids, without duplicates. */
  readonly listed?: readonly string[];
  /** For a pattern without wildcards: the only id that it matches. */
  readonly only?: string;
}

/** A term about a minion's grains or pillar. */
export interface DataTerm {
  readonly about: "grains" | "pillar";
  /** @throws {TooCostlyError} */
  matches(facts: Facts): boolean;
  /** Whether a minion without stored grains counts as matching, as in Salt for addresses. */
  readonly countsUnknown: boolean;
}

/** One condition. */
export type Term = IdTerm | DataTerm;

/** How a term is read. */
export interface TermOptions {
  /** Separates the levels of grains and pillar. */
  readonly delimiter: string;
  /**
   * Whether pillar is compared exactly instead of by patterns, so that patterns cannot be used to search for secrets in
   * it.
   */
  readonly pillarExact: boolean;
}

/**
 * Makes a term of a target's text.
 * @throws {TargetError} If it cannot be read.
 */
export type MakeTerm = (tgt: Value, options: TermOptions) => Term;

/** The term of each simple target type. */
export const TERMS = {
  glob: (tgt) => {
    if (typeof tgt !== "string") return idTerm(() => false);
    return { ...idTerm(compileGlob(tgt)), ...!isGlob(tgt) && { only: tgt } };
  },
  pcre: (tgt) => idTerm(typeof tgt === "string" ? regexTest(tgt) : () => false),
  list: (tgt) => {
    const ids = new Set(listedIds(tgt));
    return { ...idTerm((id) => ids.has(id)), listed: [...ids] };
  },
  grain: (tgt, options) => dataTerm("grains", tgt, { ...options, comparison: "glob" }),
  grain_pcre: (tgt, options) => dataTerm("grains", tgt, { ...options, comparison: "pcre" }),
  pillar: (tgt, options) => dataTerm("pillar", tgt, { ...options, comparison: options.pillarExact ? "exact" : "glob" }),
  pillar_pcre: (tgt, options) =>
    dataTerm("pillar", tgt, { ...options, comparison: options.pillarExact ? "exact" : "pcre" }),
  pillar_exact: (tgt, options) => dataTerm("pillar", tgt, { ...options, comparison: "exact" }),
  ipcidr: (tgt) => {
    if (typeof tgt !== "string") throw new TargetError("An address must be a text", "ipcidr");
    return { about: "grains", matches: compileIpMatch(tgt), countsUnknown: true };
  },
} as const satisfies Readonly<Record<string, MakeTerm>>;

function idTerm(matches: (id: string) => boolean): IdTerm {
  return { about: "id", matches };
}

function dataTerm(
  about: "grains" | "pillar",
  tgt: Value,
  { delimiter, comparison }: { readonly delimiter: string; readonly comparison: Comparison },
): DataTerm {
  if (delimiter === "") throw new TargetError("The delimiter is empty", about);
  if (typeof tgt !== "string") throw new TargetError("A key and a value must be a text", about);
  const expression = new DataExpression(tgt, { delimiter, comparison });
  const { problem } = expression;
  if (problem !== undefined) throw new TargetError(problem, about);
  return { about, matches: (facts) => expression.matches(facts), countsUnknown: false };
}

/** The ids of a list: a comma-separated string or an array; empty names are skipped. */
function listedIds(tgt: Value): string[] {
  if (typeof tgt === "string") return tgt.split(",").filter((id) => id !== "");
  return Array.isArray(tgt) ? tgt.filter((id) => typeof id === "string") : [];
}

/** Matching one id is bounded; a caller that matches many ids limits the time for all of them. */
function regexTest(tgt: string): (id: string) => boolean {
  const regex = readable(() => pythonRegex(tgt));
  return (id) => readable(() => regex.test(id));
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
