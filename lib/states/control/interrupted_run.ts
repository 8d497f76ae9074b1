/**
 * A run whose minion ended: a state restarted salt-minion, and the command continued. The run continues with the next
 * state; states in its record are not run again. Only a command that does a state's work counts as its outcome: one
 * that only read something is run again. Without such a command, the run ends with the results so far.
 * @module
 */

import { CommandLostError } from "#lib/errors.ts";
import type { ChildOutcome } from "#lib/programs/child_process.ts";
import { unwrapCommand } from "#lib/programs/command_wrapper.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { type Chunk, chunkTag, field } from "#lib/states/compiler/chunks.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { hideStateResult } from "./hidden_result.ts";
import { isReadOnly } from "./read_only_commands.ts";
import { readRun, type RunState, type Unfinished } from "./record.ts";

/** A command of a state that continued after its minion ended. */
export interface SurvivingCommand {
  readonly words: readonly string[];
  /** How it ended; a text if that is not known. The output of a command that ended before the minion is not known. */
  readonly outcome: Pick<ChildOutcome, "pid" | "retcode"> & Partial<Pick<ChildOutcome, "stdout" | "stderr">> | string;
}

/** Waits for the commands that continued. There are none if the job is a first attempt. */
export async function survivingCommands(
  { detachedCommands = [], runChild, signal, child }: JobContext,
): Promise<readonly SurvivingCommand[]> {
  const outcomes: SurvivingCommand[] = [];
  if (runChild === undefined) return outcomes;
  for (const { words } of detachedCommands) {
    try {
      const outcome = await runChild({ argv: words, cwd: "/", env: {} }, { signal, child, outputMax: 0 });
      outcomes.push({ words: unwrapCommand(words), outcome });
    } catch (error) {
      if (!(error instanceof CommandLostError)) throw error;
      outcomes.push({ words: unwrapCommand(words), outcome: error.message });
    }
  }
  return outcomes;
}

/** The data with which a run continues. */
export interface FormerRun {
  /** The results by tag: those of its record, and those of the states that had been called. */
  readonly results: ReadonlyMap<string, ValueMap>;
  /** The returns of state functions whose `check_cmd` had not ended, by tag. */
  readonly unchecked: ReadonlyMap<string, ValueMap>;
  /** The commands that had done work for states that are called again, by tag. */
  readonly work: ReadonlyMap<string, readonly SurvivingCommand[]>;
}

/** The data for continuing a run whose minion ended. */
export function formerRun(
  { cachedir, jid }: { readonly cachedir: string; readonly jid: string },
  { chunks, commands }: { readonly chunks: readonly Chunk[]; readonly commands: readonly SurvivingCommand[] },
): FormerRun {
  const run = readRun(cachedir, jid);
  const results = new Map(run?.results);
  const byTag = new Map(chunks.map((chunk) => [chunkTag(chunk), chunk]));
  const unchecked = new Map<string, ValueMap>();
  const allWork = new Map<string, readonly SurvivingCommand[]>();
  for (const [tag, unfinished] of run?.unfinished ?? []) {
    const chunk = byTag.get(tag);
    if (chunk === undefined) continue;
    const { progress } = unfinished;
    const work = workOf(unfinished, commands);
    if (progress.at === "checking" && !isFile(chunk)) unchecked.set(tag, progress.result);
    else if (!isCalledAgain(chunk, unfinished, work)) results.set(tag, ofUnfinished(chunk, work, results.size));
    else if (work.length > 0) allWork.set(tag, work);
  }
  return { results, unchecked, work: allWork };
}

/** The commands that did the work of a state: those in its record, and those that continued and are not read-only. */
function workOf({ progress, work }: Unfinished, commands: readonly SurvivingCommand[]): SurvivingCommand[] {
  const ended = work.map(({ words, pid, retcode }) => ({ words, outcome: { pid, retcode } }));
  return progress.at === "called" ? [...ended, ...commands.filter(({ words }) => !isReadOnly(words))] : ended;
}

/**
 * Modules whose states describe a result and need several commands for it: the outcome of the first command says
 * nothing about the state, and a second call completes it. States of other modules act, and might end the minion again.
 */
const CALLED_AGAIN = new Set(["archive", "file", "git", "group", "pip", "pkg", "pkgrepo", "user", "virtualenv"]);
/** After this number of attempts, the state itself is the cause of the minion's end. */
const MAX_ATTEMPTS = 3;

/** Whether a state that had started is called again. */
function isCalledAgain(chunk: Chunk, { progress, attempts }: Unfinished, work: readonly SurvivingCommand[]): boolean {
  if (attempts >= MAX_ATTEMPTS) return false;
  return progress.at === "asking" || work.length === 0 || CALLED_AGAIN.has(field(chunk, "state"));
}

/** All commands of `file` are read-only: its own `check_cmd` runs before the file is put in place. */
function isFile(chunk: Chunk): boolean {
  return field(chunk, "state") === "file";
}

const ENDED = "The minion ended while this state ran";

/**
 * The result of a state that had been called, from the outcomes of its commands. It is not called again, because that
 * might end the minion again.
 */
function ofUnfinished(chunk: Chunk, work: readonly SurvivingCommand[], runNum: number): ValueMap {
  const { lines, changes, succeeded } = reportOf(chunk, work);
  const result = map({
    name: chunk.get("name") ?? null,
    result: succeeded,
    comment: [`${ENDED}, and the run went on.`, ...lines].join("\n"),
    __run_num__: runNum,
  });
  for (const key of ["__sls__", "__id__"]) result.set(key, chunk.get(key) ?? null);
  result.set("changes", changes);
  return truthy(chunk.get("no_log")) ? hideStateResult(result) : result;
}

/**
 * Adds the earlier work of a state's commands to its result after a second call, so that states that watch it see it.
 */
export function addFormerWork(chunk: Chunk, result: ValueMap, work: readonly SurvivingCommand[]): void {
  const { lines, changes } = reportOf(chunk, work);
  const comment = result.get("comment") ?? "";
  const before = truthy(comment) ? [str(comment)] : [];
  result.set("comment", [...before, `${ENDED}, and it was called again.`, ...lines].join("\n"));
  const own = result.get("changes") ?? null;
  result.set("changes", new Map([...changes, ...isMap(own) ? own : []]));
}

/** The outcomes of commands: as text, and as changes. */
function reportOf(
  chunk: Chunk,
  work: readonly SurvivingCommand[],
): { lines: string[]; changes: ValueMap; succeeded: boolean } {
  const lines: string[] = [];
  const changes: ValueMap = new Map();
  const isHidden = truthy(chunk.get("no_log"));
  let succeeded = work.length > 0;
  for (const [i, { words, outcome }] of work.entries()) {
    const name = isHidden ? `command ${i + 1}` : words.join(" ");
    if (typeof outcome === "string") {
      succeeded = false;
      lines.push(`${name}: ${outcome}`);
      continue;
    }
    const { pid, retcode, stdout, stderr } = outcome;
    succeeded &&= retcode === 0;
    lines.push(`${name} ended with return code ${retcode}.`);
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trimEnd();
    const change = map({ pid, retcode });
    if (stdout !== undefined) change.set("stdout", decode(stdout));
    if (stderr !== undefined) change.set("stderr", decode(stderr));
    changes.set(name, change);
  }
  return { lines, changes, succeeded };
}

/** The report on a run that ended with its minion. */
export function interruptedRunLines(cachedir: string, jid: string): string[] {
  const run = readRun(cachedir, jid);
  if (run === undefined || run.end !== undefined) return [];
  return [countLine(run), ...[...run.unfinished.keys()].map((tag) => `It had begun with ${shownTag(tag)}`)];
}

function countLine({ results, jid }: RunState): string {
  const all = [...results.values()];
  const changed = all.filter((result) => truthy(result.get("changes"))).length;
  const failed = all.filter((result) => result.get("result") === false).length;
  return `${all.length} states had run by then (${changed} with changes, ${failed} failed): state.last_run ${jid} shows them`;
}

function shownTag(tag: string): string {
  const [state, id, , fun] = tag.split("_|-");
  return `${state}.${fun} of ${id}`;
}

/** Whether a job's function runs states. */
export function runsStates(fun: Value | undefined): boolean {
  return typeof fun === "string" && fun.startsWith("state.");
}
