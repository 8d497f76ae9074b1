/**
 * Whether a target matches this minion. Source: Salt 3008.3 `salt/modules/match.py`, `salt/matchers`.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { factsOf } from "./facts.ts";
import { matchesTarget, type TargetOptions, type TargetType } from "./target.ts";

/** The query: the target, another id in place of the minion's, and the separator of the levels of grains and pillar. */
export interface OwnTarget {
  readonly tgt: Value;
  readonly id?: string | null;
  readonly delimiter?: string;
}

/** The minion. */
export interface OwnFacts {
  readonly opts: { readonly id: string; readonly nodegroups: TargetOptions["nodegroups"] };
  readonly grains: ValueMap;
  readonly pillar: ValueMap;
  log(level: "error", text: string): void;
}

/** An invalid target matches nothing, and the reason is logged. */
export function matchesOwn(tgtType: TargetType, { tgt, id, delimiter }: OwnTarget, facts: OwnFacts): boolean {
  const { opts, grains, pillar } = facts;
  try {
    const subject = { id: id ?? opts.id, grains: factsOf(grains), pillar: factsOf(pillar) };
    return matchesTarget({ tgt, tgtType }, subject, { delimiter, nodegroups: opts.nodegroups });
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    facts.log("error", error.message);
    return false;
  }
}
