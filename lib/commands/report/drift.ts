/**
 * Summary of a run of states on several minions: how many of them would change, have changed or failed, and which. Salt
 * shows each minion's run alone.
 * @module
 */

import { readStateRun, type ReturnedState } from "#lib/output/state_return.ts";
import { type ColourName, colours, sanitizeLine } from "#lib/text/terminal.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { isMap, truthy, type Value } from "#lib/values/value.ts";
import type { Answer } from "./answers.ts";

/** Maximum number of minions that a line names; the rest is counted. */
const NAMED = 10;

/** The kinds of results that a line counts. */
interface Kind {
  readonly words: string;
  readonly colour: ColourName;
  counts(state: ReturnedState): boolean;
}

const KINDS: readonly Kind[] = [
  { words: "would change", colour: "YELLOW", counts: ({ result }) => result === null },
  { words: "changed", colour: "CYAN", counts: ({ result, changes }) => result === true && truthy(changes) },
  { words: "failed", colour: "RED", counts: ({ result }) => result === false },
];

/**
 * `3 of 20 would change: web1 (2 states), web2 (1 state), db1 (5 states)`, a line for each kind of result, with
 * newlines. Empty for a single minion, and for other returns than of state runs.
 * @param how.color Whether the lines are coloured.
 */
export function driftText(
  answers: readonly Pick<Answer, "id" | "return">[],
  { color }: { readonly color: boolean },
): string {
  const runs = answers.flatMap(({ id, return: returned }) => {
    const states = statesOf(returned);
    return states === undefined ? [] : [{ id, states }];
  });
  if (runs.length < 2) return "";
  const palette = colours(color);
  const lines = KINDS.flatMap(({ words, colour, counts }) => {
    const drifts = runs.flatMap(({ id, states }) => {
      const count = states.filter(counts).length;
      return count === 0 ? [] : [`${sanitizeLine(id)} (${count === 1 ? "1 state" : `${count} states`})`];
    });
    if (drifts.length === 0) return [];
    const text = `${drifts.length} of ${runs.length} ${words}: ${truncateList(drifts.sort(), NAMED)}`;
    return [`${palette[colour]}${text}${palette.ENDC}\n`];
  });
  return lines.length > 0 ? lines.join("") : `${palette.GREEN}None of ${runs.length} changed${palette.ENDC}\n`;
}

/** The states of a return; `undefined` if it is not that of a run that had any. */
function statesOf(returned: Value): readonly ReturnedState[] | undefined {
  if (!isMap(returned)) return undefined;
  const states = readStateRun(returned)?.states ?? [];
  return states.length > 0 ? states : undefined;
}
