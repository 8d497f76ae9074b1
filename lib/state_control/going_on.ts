/**
 * A run that its minion did not survive: a state restarted salt-minion, and the command went on. The run goes on with the state
 * behind it; what the record has is not run again. Without a command that went on it ends, with what it had done.
 * @module
 */

import { CommandLostError } from "../errors.ts";
import type { ChildOutcome } from "../host/child_process.ts";
import type { JobContext } from "../plugins/job_context.ts";
import { type Chunk, chunkTag, field } from "../states/chunks.ts";
import { map, truthy, type Value, type ValueMap } from "../values/value.ts";
import { type Progress, readRun, type RunState } from "./record.ts";

/** A command of a state that went on without the minion. */
export interface Survivor {
  readonly words: readonly string[];
  /** How it ended; a text if nobody knows. */
  readonly outcome: ChildOutcome | string;
}

/** Waits for the commands that went on. None: the job is no second attempt. */
export async function survivors(
  { keptCommands = [], runChild, signal, child }: JobContext,
): Promise<readonly Survivor[]> {
  const found: Survivor[] = [];
  for (const { words } of keptCommands) {
    if (runChild === undefined) break;
    try {
      const outcome = await runChild({ argv: words, cwd: "/", env: {} }, { signal, child, outputMax: 0 });
      found.push({ words, outcome });
    } catch (error) {
      if (!(error instanceof CommandLostError)) throw error;
      found.push({ words, outcome: error.message });
    }
  }
  return found;
}

/** With what a run goes on. */
export interface Former {
  /** The results by tag: those of its record, and those of the states that had been called. */
  readonly results: ReadonlyMap<string, ValueMap>;
  /** What functions of states returned whose `check_cmd` has not ended, by tag. */
  readonly unchecked: ReadonlyMap<string, ValueMap>;
}

/** With what a run goes on that its minion did not survive. */
export function formerRun(
  { cachedir, jid }: { readonly cachedir: string; readonly jid: string },
  { chunks, commands }: { readonly chunks: readonly Chunk[]; readonly commands: readonly Survivor[] },
): Former {
  const run = readRun(cachedir, jid);
  const results = new Map(run?.results);
  const byTag = new Map(chunks.map((chunk) => [chunkTag(chunk), chunk]));
  const unchecked = new Map<string, ValueMap>();
  for (const [tag, progress] of run?.unfinished ?? []) {
    const chunk = byTag.get(tag);
    if (chunk === undefined || isCalledAgain(chunk, progress)) continue;
    if (progress.at === "checking") unchecked.set(tag, progress.result);
    else results.set(tag, ofUnfinished(chunk, commands, results.size));
  }
  return { results, unchecked };
}

/** Whether the commands of a state that had begun did nothing: conditions, and those of the module `file`, which only look. */
function isCalledAgain(chunk: Chunk, { at }: Progress): boolean {
  return at === "asking" || field(chunk, "state") === "file";
}

/** The result of a state that had been called: what its commands came to. It is not called again, for that might end the minion again. */
function ofUnfinished(chunk: Chunk, commands: readonly Survivor[], runNum: number): ValueMap {
  const lines = ["The minion ended while this state ran, and the run went on."];
  const changes: ValueMap = new Map();
  let succeeded = commands.length > 0;
  for (const { words, outcome } of commands) {
    const name = words.join(" ");
    if (typeof outcome === "string") {
      succeeded = false;
      lines.push(`${name}: ${outcome}`);
      continue;
    }
    succeeded &&= outcome.retcode === 0;
    lines.push(`${name} ended with return code ${outcome.retcode}.`);
    const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trimEnd();
    const { pid, retcode, stdout, stderr } = outcome;
    changes.set(name, map({ pid, retcode, stdout: decode(stdout), stderr: decode(stderr) }));
  }
  const result = map({
    name: chunk.get("name") ?? null,
    result: succeeded,
    comment: lines.join("\n"),
    __run_num__: runNum,
  });
  for (const key of ["__sls__", "__id__"]) result.set(key, chunk.get(key) ?? null);
  return result.set("changes", changes);
}

/** What is told of a run that ended with its minion. */
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

/** Whether the name of a job's function is one that runs states. */
export function runsStates(fun: Value | undefined): boolean {
  return typeof fun === "string" && fun.startsWith("state.");
}
