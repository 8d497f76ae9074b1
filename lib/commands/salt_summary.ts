/**
 * The summary of `salt --summary`: Salt's lines, and the number of minions for each outcome.
 * Source: Salt's cli/salt.py (`_print_returns_summary`); the outcomes are not in Salt.
 * @module
 */

import { hasReturned, type Outcome, OUTCOMES } from "../protocol/outcome.ts";
import type { Answer } from "./salt_returns.ts";
import { type ColourName, colours, sanitizeLine } from "../text/terminal.ts";

const RULE = "-------------------------------------------";

const OUTCOME_COLOURS: Readonly<Record<Outcome, ColourName>> = {
  returned: "GREEN",
  failed: "RED",
  running: "CYAN",
  received: "CYAN",
  interrupted: "RED",
  "not received": "LIGHT_RED",
  "not connected": "YELLOW",
  "no such minion": "YELLOW",
};

/** Options of {@linkcode summaryText}. */
export interface SummaryOptions {
  /** Whether minions that failed or did not return are named. */
  readonly verbose: boolean;
  /** Whether to use Salt's colours. */
  readonly color: boolean;
}

/** The summary of a job, with newlines before and after. */
export function summaryText(answers: readonly Answer[], { verbose, color }: SummaryOptions): string {
  const ids = (chosen: (answer: Answer) => boolean) => answers.filter(chosen).map(({ id }) => sanitizeLine(id));
  const returned = ids(({ outcome }) => hasReturned(outcome));
  const failed = ids(({ outcome, retcode }) => hasReturned(outcome) && retcode !== 0);
  const named: readonly (readonly [heading: string, ids: string[]])[] = [
    ["Minions not connected", ids(({ outcome }) => outcome === "not connected")],
    ["Minions not responding", ids(({ outcome }) => !hasReturned(outcome) && outcome !== "not connected")],
    ["Minions with failures", failed],
  ];
  const palette = colours(color);
  const counts = OUTCOMES.flatMap((outcome) => {
    const count = answers.filter((answer) => answer.outcome === outcome).length;
    return count === 0 ? [] : [`  ${palette[OUTCOME_COLOURS[outcome]]}${outcome}: ${count}${palette.ENDC}`];
  });
  const lines = [
    "",
    "",
    RULE,
    "Summary",
    RULE,
    `# of minions targeted: ${answers.length}`,
    `# of minions returned: ${returned.length}`,
    `# of minions that did not return: ${answers.length - returned.length}`,
    `# of minions with errors: ${failed.length}`,
    ...(counts.length === 0 ? [] : ["# of minions by outcome:", ...counts]),
    ...(verbose ? named : []).flatMap(([heading, those]) =>
      those.length === 0 ? [] : [`${heading}: ${those.join(" ")}`]
    ),
    RULE,
  ];
  return lines.map((line) => `${line}\n`).join("");
}
