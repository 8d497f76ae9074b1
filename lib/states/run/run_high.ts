/**
 * From high data to results: compiles them, runs the states, and those that listen.
 * Source: Salt 3008.3, `State.call_high` of `salt/state.py`.
 * @module
 */

import { collectGarbage } from "#lib/runtime/idle_memory.ts";
import { Places } from "#lib/states/compiler/place.ts";
import { type Compiled, RUN } from "#lib/states/compiler/stages.ts";
import type { WalkedStates } from "#lib/states/compiler/walk.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { Dependencies } from "./dependencies.ts";
import { fireStateEvent } from "#lib/states/control/events.ts";
import { formerRun } from "#lib/states/control/interrupted_run.ts";
import { findListening } from "./listen.ts";
import { retcodeOf } from "./outcome.ts";
import { dropPauses, RunPauses } from "#lib/states/control/pauses.ts";
import type { Prepared } from "./prepared.ts";
import { type RunEnd, RunRecord } from "#lib/states/control/record.ts";
import { RunRefresher } from "./run_refresher.ts";
import { maxParallelOf, type RunWatch, StateRun } from "./run.ts";
import { RunContext } from "./run_context.ts";

/**
 * Compiles high data and runs them. The high data are empty afterwards: a caller that waits would keep them, as large
 * as the files.
 * @returns The results by tag, or a list of what is wrong. Sets the return code.
 */
export async function runHigh(walked: Pick<WalkedStates, "high" | "places">, prepared: Prepared): Promise<Value> {
  const { states } = prepared;
  const { errors, chunks, graph, aggregates } = await states.compile(walked, RUN);
  if (errors.length === 0) clearHigh(walked, chunks.length);
  if (errors.length === 0) await prepared.call.compiled?.(chunks, prepared.job);
  const returned = errors.length > 0
    ? states.refusal(errors)
    : await runCompiled({ chunks, graph, aggregates }, prepared);
  prepared.call.context.setRetcode(retcodeOf(returned));
  return returned;
}

/**
 * States from which on the garbage of their compilation is collected before they run: V8 would keep it until it needs
 * the space.
 */
const MANY_STATES = 3_000;

function clearHigh({ high, places }: Pick<WalkedStates, "high" | "places">, states: number): void {
  high.clear();
  places.clear();
  if (states >= MANY_STATES) collectGarbage();
}

/** The part of a compilation that is needed while its states run. */
export type ToRun = Pick<Compiled, "chunks" | "graph" | "aggregates">;

/** The same of data that come from no file. */
export async function runData(high: ValueMap, prepared: Prepared): Promise<Value> {
  return await runHigh({ high: new Map(high), places: new Places() }, prepared);
}

/** Makes a run of compiled states; does not start it. */
export function openRun(compiled: ToRun | undefined, prepared: Prepared, record?: RunRecord): OpenRun {
  const { job, test, states, call } = prepared;
  const option = (name: string): Value => states.opts.get(name) ?? null;
  const runContext = new RunContext({ context: job, test });
  const refresher = new RunRefresher(runContext, () => states.gatherPillar());
  const run = new StateRun({
    runContext,
    dependencies: new Dependencies(compiled?.graph, compiled?.aggregates),
    failhard: truthy(option("failhard")),
    maxParallel: maxParallelOf(option("state_max_parallel")),
    mocked: truthy(call.kwargs.get("mock")),
    watch: watchOf(compiled, prepared, record),
    refresh: (chunk, result) => refresher.after(chunk, result),
  });
  return { run, refresher };
}

/** A run, and its refreshing. */
export interface OpenRun {
  readonly run: StateRun;
  readonly refresher: RunRefresher;
}

function watchOf(compiled: ToRun | undefined, { job, states, call }: Prepared, record?: RunRecord): RunWatch {
  const jid = str(job.job.jid ?? "");
  const pauses = new RunPauses({ cachedir: job.opts.cachedir, jid, signal: job.signal });
  const stateEvents = call.kwargs.get("state_events") ?? null;
  const setting = {
    jid,
    // A client that watches the job sees its states, too.
    progress: stateEvents === null
      ? truthy(states.opts.get("state_events")) || job.watchCommand !== undefined
      : truthy(stateEvents),
    total: compiled?.chunks.length ?? 1,
  };
  return {
    before: (chunk) => pauses.before(chunk),
    completed: (result, tag) => record?.result(tag, result),
    started: (_chunk, tag) => record?.started(tag),
    progress: (tag, progress) => record?.progress(tag, progress),
    worked: (tag, work) => record?.worked(tag, work),
    after: async (chunk, result, tag) => {
      record?.result(tag, result);
      job.watchState?.(result, setting.total);
      if (setting.progress || chunk.has("fire_event")) {
        await fireStateEvent({ chunk, result, context: job }, setting);
      }
    },
  };
}

async function runCompiled(compiled: ToRun, prepared: Prepared): Promise<ValueMap> {
  const { job, test } = prepared;
  const { cachedir } = job.opts;
  const jid = str(job.job.jid ?? "");
  // In test mode nothing changes, so there is no record.
  using record = test || jid === "" ? undefined : new RunRecord(cachedir, { jid, fun: str(job.job.fun ?? "") });
  const { run, refresher } = openRun(compiled, prepared, record);
  const { commands = [] } = prepared.call;
  if (commands.length > 0) run.goOn(formerRun({ cachedir, jid }, { chunks: compiled.chunks, commands }));
  let end: RunEnd = "aborted";
  try {
    await run.all(compiled.chunks);
    const { chunks, errors } = findListening(compiled.chunks, run.results);
    if (chunks.length > 0) await run.listeners(chunks);
    const results: ValueMap = new Map<Value, Value>(run.results);
    for (const [tag, error] of errors) results.set(tag, error.set("__run_num__", run.calls.nextRunNum()));
    end = run.stopped ? "stopped" : "finished";
    await refresher.end(job);
    return results;
  } finally {
    record?.ended(end);
    dropPauses(cachedir, jid);
  }
}
