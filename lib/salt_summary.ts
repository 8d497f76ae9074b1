/**
 * The summary at the end of `salt --summary`. Source: Salt's cli/salt.py (`_print_returns_summary`).
 * @module
 */

import type { Answer } from "./salt_answers.ts";
import { sanitizeLine } from "./terminal.ts";

const RULE = "-------------------------------------------";

/**
 * The summary of a job, with newlines before and at its end.
 * @param options.verbose Whether the minions are named that did not do well.
 */
export function summaryText(answers: readonly Answer[], options: { readonly verbose: boolean }): string {
  const ids = (chosen: (answer: Answer) => boolean) => answers.filter(chosen).map(({ id }) => sanitizeLine(id));
  const returned = ids(({ kind }) => kind === "returned");
  const failed = ids(({ kind, retcode }) => kind === "returned" && retcode !== 0);
  const named: readonly (readonly [heading: string, ids: string[]])[] = [
    ["Minions not connected", ids(({ kind }) => kind === "disconnected")],
    ["Minions not responding", ids(({ kind }) => kind === "silent")],
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
    ...(options.verbose ? named : []).flatMap(([heading, those]) =>
      those.length === 0 ? [] : [`${heading}: ${those.join(" ")}`]
    ),
    RULE,
  ];
  return lines.map((line) => `${line}\n`).join("");
}
