/**
 * Shows the answers to a job of `salt` in the form that the options select: each as it arrives, all at the end
 * (`--static`), identical ones together (`--group`), only a summary (`--progress`), or as documentation (`sys.doc`).
 * Source: Salt's `salt/cli/salt.py`.
 * @module
 */

import { EX_MINIONS, EX_NO_MINIONS, interruptedCode } from "#lib/commands/cli/exit_codes.ts";
import { MACHINE_OUTPUTTERS } from "#lib/output/outputters.ts";
import type { PrintResult } from "#lib/output/printer.ts";
import { hasReturned } from "#lib/protocol/outcome.ts";
import { sanitize } from "#lib/text/terminal.ts";
import { str, type Value } from "#lib/values/value.ts";
import { mergedDocs } from "#lib/commands/report/docs.ts";
import { driftText } from "#lib/commands/report/drift.ts";
import { failuresText } from "#lib/commands/report/failures.ts";
import { groupAnswers, groupHeading, groupsValue } from "#lib/commands/report/groups.ts";
import type { JobProgress } from "#lib/commands/report/progress.ts";
import type { Answer } from "#lib/commands/report/answers.ts";
import { NO_RETURN_TEXT, type Session } from "./salt_session.ts";
import { summaryText } from "#lib/commands/report/summary.ts";

/** Time without output after which a command shows the progress of the job, in milliseconds. */
export const QUIET_MS = 1_000;

/** The job whose answers are shown. */
export interface ShownJob {
  readonly fun: Value;
  /** Called with each answer. */
  readonly progress: JobProgress | undefined;
}

/**
 * Shows all of `incoming`. `--hide-timeout` prints nothing about minions that did not return; the exit code still
 * counts them.
 * @returns The exit code.
 */
export async function showAnswers(
  incoming: AsyncIterable<Answer>,
  { fun, progress }: ShownJob,
  session: Session,
): Promise<number> {
  const { options, opts, io, print } = session;
  const docs = fun === "sys.doc";
  const each = !docs && !options.static && !options.progress && !options.group;
  const all: Answer[] = [];
  for await (const answer of incoming) {
    all.push(answer);
    progress?.answered(answer);
    const hidden = options.hide_timeout && !hasReturned(answer.outcome);
    if (each && !hidden) printAnswer(answer.id, answer, print);
  }
  if (io.signal.aborted) return interruptedCode(io.signal);
  if (docs) return showDocs(all, session);
  if (options.static && !all.some(({ outcome }) => hasReturned(outcome))) {
    print(new Map());
    io.writeError(NO_RETURN_TEXT);
    return EX_NO_MINIONS;
  }
  if (options.group) showGroups(all, session);
  else if (options.static) showStatic(all, { fun, session });
  const summary = options.progress || (opts.cli_summary && opts.output === null);
  if (summary) io.write(summaryText(all, { verbose: options.verbose, color: session.color }));
  showDrift(all, session);
  if (all.every(({ retcode }) => retcode === 0)) return 0;
  io.writeError(failuresText(all, { color: session.errorColor }));
  return EX_MINIONS;
}

/**
 * Prints the summary of a run of states on several minions to standard error; nothing if a program reads the results.
 */
export function showDrift(all: readonly Answer[], { opts, io, errorColor }: Session): void {
  if (MACHINE_OUTPUTTERS.includes(opts.output ?? "")) return;
  const text = driftText(all, { color: errorColor });
  if (text !== "") io.writeError(text);
}

/** Shows one map of all returns. It has no texts about minions that did not return, because programs read it. */
function showStatic(all: readonly Answer[], { fun, session: { print } }: { fun: Value; session: Session }): void {
  const returned = all.filter(({ outcome }) => hasReturned(outcome));
  const retcode = all.find(({ retcode }) => retcode !== 0)?.retcode ?? 0;
  // As in Salt, the outputter that a return names is ignored here.
  const out = typeof fun === "string" && fun.startsWith("state.") ? "highstate" : undefined;
  const errorDetails = new Map(
    returned.flatMap(({ id, errorDetails: details }) => details === undefined ? [] : [[id, details] as const]),
  );
  print(new Map<Value, Value>(returned.map(({ id, return: value }) => [id, value])), { out, retcode, errorDetails });
}

function printAnswer(heading: string, answer: Answer, print: PrintResult): void {
  const { out, retcode, errorDetails } = answer;
  print(new Map([[heading, answer.return]]), {
    out,
    retcode,
    ...errorDetails !== undefined && { errorDetails: new Map([[heading, errorDetails]]) },
  });
}

function showGroups(all: readonly Answer[], { print, options, opts }: Session): void {
  const groups = groupAnswers(all.filter(({ outcome }) => hasReturned(outcome) || !options.hide_timeout));
  if (MACHINE_OUTPUTTERS.includes(opts.output ?? "")) return print(groupsValue(groups));
  for (const { ids, answer } of groups) {
    const heading = groupHeading(ids, options.verbose);
    printAnswer(heading, answer, print);
  }
}

/** `sys.doc`: the documentation of all minions, each function once. */
function showDocs(all: readonly Answer[], { opts, io, print, errorColor }: Session): number {
  const { docs, failures } = mergedDocs(all);
  for (const [name, doc] of docs) {
    if (opts.output !== null) print(new Map([[name, doc]]));
    else io.write(sanitize(`${str(name)}:\n${str(doc)}\n\n`));
  }
  for (const { id, return: returned, out } of failures) print(new Map([[id, returned]]), { out, retcode: 1 });
  if (failures.length === 0) return 0;
  io.writeError(failuresText(failures.map((one) => ({ ...one, retcode: one.retcode || 1 })), { color: errorColor }));
  return EX_MINIONS;
}
