/**
 * `salt --group`: identical results once, with the minions that gave them.
 * @module
 */

import { sanitizeLine } from "#lib/text/terminal.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { repr, type Value, type ValueMap } from "#lib/values/value.ts";
import type { Answer } from "./answers.ts";

/** Minions with the same return, return code and outputter. */
export interface AnswerGroup {
  /** Their ids, sorted. */
  readonly ids: readonly string[];
  /** The answer of one of them. */
  readonly answer: Answer;
}

/** The groups of `answers`, the largest first; of equally large ones the one with the first id. */
export function groupAnswers(answers: readonly Answer[]): AnswerGroup[] {
  const groups = Map.groupBy(
    answers,
    ({ outcome, retcode, out, return: value }) => `${outcome} ${retcode} ${out ?? ""} ${repr(value)}`,
  );
  return [...groups.values()]
    .map((same) => ({ ids: same.map(({ id }) => id).sort(), answer: same[0] }))
    .sort((a, b) => b.ids.length - a.ids.length || (a.ids[0] < b.ids[0] ? -1 : 1));
}

/** Maximum number of ids that a heading names; the rest is counted. */
const NAMED = 20;

/**
 * The heading of a group for people: its ids and, if there are several, their number.
 * @param all Whether all are named.
 */
export function groupHeading(ids: readonly string[], all: boolean): string {
  const names = truncateList(ids.map(sanitizeLine), all ? ids.length : NAMED);
  return ids.length === 1 ? names : `${names} (${ids.length} minions)`;
}

/** The groups for programs: a list of maps. */
export function groupsValue(groups: readonly AnswerGroup[]): Value {
  return groups.map(({ ids, answer }): ValueMap =>
    new Map<Value, Value>([["minions", [...ids]], ["retcode", answer.retcode], ["return", answer.return]])
  );
}
