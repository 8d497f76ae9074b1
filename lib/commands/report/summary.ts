/**
 * The summary of `salt --summary`: Salt's lines, a table of outcomes and return codes with their minions, and the
 * response times.
 * Source: Salt's `salt/cli/salt.py` (`_print_returns_summary`); the table and the times are not in Salt.
 * @module
 */

import { BEYOND, hasReturned, type Outcome, OUTCOMES } from "#lib/protocol/outcome.ts";
import type { Answer } from "./answers.ts";
import { alignColumns } from "./align.ts";
import { type ColourName, colours, sanitizeLine } from "#lib/text/terminal.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { byEnd } from "./failures.ts";

const RULE = "-------------------------------------------";

const OUTCOME_COLOURS: Readonly<Record<Outcome, ColourName>> = {
  returned: "GREEN",
  failed: "RED",
  running: "CYAN",
  received: "CYAN",
  interrupted: "RED",
  refused: "RED",
  cancelled: "YELLOW",
  "not received": "LIGHT_RED",
  [BEYOND]: "YELLOW",
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
  const groups: readonly (readonly [heading: string, ids: string[]])[] = [
    ["Minions not connected", ids(({ outcome }) => outcome === "not connected")],
    ["Minions not responding", ids(({ outcome }) => !hasReturned(outcome) && outcome !== "not connected")],
    ["Minions with failures", failed],
  ];
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
    ...outcomeTable(answers, { verbose, color }),
    ...responseTimes(answers),
    ...(verbose ? groups : []).flatMap(([heading, those]) =>
      those.length === 0 ? [] : [`${heading}: ${those.join(" ")}`]
    ),
    RULE,
  ];
  return lines.map((line) => `${line}\n`).join("");
}

/** Maximum number of minions that a row names without `verbose`; the rest is counted. */
const NAMED = 10;

/** A row for each outcome and return code: `failed  3  2  db1, web1`. */
function outcomeTable(answers: readonly Answer[], { verbose, color }: SummaryOptions): string[] {
  const groups = OUTCOMES.flatMap((outcome) => byEnd(answers.filter((answer) => answer.outcome === outcome)));
  if (groups.length === 0) return [];
  const rows = groups.map(([, those]) => {
    const [{ outcome, retcode }] = those;
    const ids = those.map(({ id }) => sanitizeLine(id));
    const code = hasReturned(outcome) ? String(retcode) : "-";
    return [outcome, code, String(ids.length), truncateList(ids, verbose ? ids.length : NAMED)];
  });
  const palette = colours(color);
  const [heading, ...lines] = alignColumns([["outcome", "code", "minions", "which"], ...rows], [
    "left",
    "right",
    "right",
  ]);
  return [
    heading,
    ...lines.map((line, i) => `${palette[OUTCOME_COLOURS[groups[i][1][0].outcome]]}${line}${palette.ENDC}`),
  ];
}

/** `response times: 0.021 s to 1.204 s, median 0.030 s; the slowest: db1`. */
function responseTimes(answers: readonly Answer[]): string[] {
  const timed = answers.flatMap(({ id, tookMs }) => tookMs === undefined ? [] : [{ id, tookMs }])
    .sort((a, b) => a.tookMs - b.tookMs);
  if (timed.length === 0) return [];
  const seconds = ({ tookMs }: { tookMs: number }) => `${(tookMs / 1000).toFixed(3)} s`;
  const slowest = timed[timed.length - 1];
  if (timed.length === 1) return [`response time: ${seconds(slowest)}`];
  const middle = timed[Math.floor((timed.length - 1) / 2)];
  return [
    `response times: ${seconds(timed[0])} to ${seconds(slowest)}, median ${seconds(middle)}; the slowest: ` +
    sanitizeLine(slowest.id),
  ];
}
