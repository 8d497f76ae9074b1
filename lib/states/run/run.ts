/**
 * Runs the chunks of a compilation in their order: checks the requisites of each, calls it or records why not, and
 * collects the results. Source: Salt 3008.3, `State.call_chunks`, `call_chunk`, `_call_unmet_requisites` of
 * `salt/state.py`.
 * @module
 */

import { type Chunk, chunkTag, field } from "#lib/states/compiler/chunks.ts";
import type { FormerRun, SurvivingCommand } from "#lib/states/control/interrupted_run.ts";
import type { StateProgress, Work } from "#lib/states/control/record.ts";
import { isMap, map, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { ParallelStates } from "./parallel_states.ts";
import { startClock } from "./clock.ts";
import type { Dependencies } from "./dependencies.ts";
import { type Required, requisiteStatus, type Status } from "./requisite_status.ts";
import { notRun, withOwner } from "./results.ts";
import { callHook, functionNameOf, StateCalls } from "./state_calls.ts";
import type { RunContext } from "./run_context.ts";
import { SALT_CALL_TARGET } from "#lib/jobs/proc_notes.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { stateLine } from "./state_log.ts";

/** The shared data of a run, and the options that decide on its order and its end. */
export interface RunSetting {
  readonly runContext: RunContext;
  readonly dependencies: Dependencies;
  /** The option `failhard`: whether the first failed state is the last one. */
  readonly failhard?: boolean;
  /** `state_max_parallel` */
  readonly maxParallel?: number;
  readonly mocked?: boolean;
  readonly watch?: RunWatch;
  /** Called after a state that changed something, or asked for it. */
  refresh?(chunk: Chunk, result: ValueMap): Promise<void>;
}

/** Callbacks during a run. */
export interface RunWatch {
  /**
   * Called before a state.
   * @returns Whether the run ends here.
   */
  before?(chunk: Chunk): Promise<"run" | "kill"> | "run" | "kill";
  /** A state starts. */
  started?(chunk: Chunk, tag: string): void;
  /** A state with conditions or a `check_cmd` makes progress. */
  progress?(tag: string, progress: StateProgress): void;
  /** A command that did work for a state has ended. */
  worked?(tag: string, work: Work): void;
  /** A state has a result. */
  after?(chunk: Chunk, result: ValueMap, tag: string): Promise<void> | void;
  /** A parallel state has its final result. */
  completed?(result: ValueMap, tag: string): void;
}

const COMMENTS: Readonly<Partial<Record<Status, string>>> = {
  skip_req: "State was not run because requisites were skipped by another state",
  pre: "No changes detected",
  onfail: "State was not run because onfail req did not change",
  onchanges: "State was not run because none of the onchanges reqs changed",
};

/** Maximum depth of requisites that have not run yet, of one chunk. */
const MAX_DEPTH = 20;

/** One run of states. */
export class StateRun {
  readonly #setting: RunSetting;
  readonly #runContext: RunContext;
  readonly #calls: StateCalls;
  readonly #parallel: ParallelStates;
  readonly #initialized = new Set<string>();
  readonly #aggregated = new Map<Chunk, Chunk>();
  /** The results of runs in test mode for `prereq`, by tag. */
  readonly #tested = new Map<string, ValueMap>();
  /** Returns of functions in a continued run whose `check_cmd` has not run. */
  readonly #unchecked = new Map<string, ValueMap>();
  /** What commands had done for states that are called again. */
  readonly #formerWork = new Map<string, readonly SurvivingCommand[]>();
  #stopped = false;

  constructor(setting: RunSetting) {
    this.#setting = setting;
    this.#runContext = setting.runContext;
    this.#parallel = new ParallelStates(setting.maxParallel ?? 0, (tag) => this.results.get(tag), (chunk, result) => {
      setting.watch?.completed?.(result, chunkTag(chunk));
      this.#log(chunk, result);
    });
    this.#calls = new StateCalls({
      runContext: this.#runContext,
      mocked: setting.mocked ?? false,
      startParallel: (chunk, name, run) => this.#parallel.add(chunk, name, run),
      refresh: setting.refresh ?? (() => Promise.resolve()),
      progress: (chunk, progress) => setting.watch?.progress?.(ownTag(chunk), progress),
      worked: (chunk, work) => setting.watch?.worked?.(ownTag(chunk), work),
      unchecked: (chunk) => takeChunks(this.#unchecked, ownTag(chunk)),
      formerWork: (chunk) => takeChunks(this.#formerWork, ownTag(chunk)),
    });
  }

  /** The results so far, by tag, in the order of running. */
  get results(): Map<string, ValueMap> {
    return this.#runContext.running;
  }

  get calls(): StateCalls {
    return this.#calls;
  }

  /** Continues with a run of which there are results: their states are not called again. */
  goOn({ results, unchecked, work }: FormerRun): void {
    for (const [tag, result] of unchecked) this.#unchecked.set(tag, result);
    for (const [tag, commands] of work) this.#formerWork.set(tag, commands);
    for (const [tag, result] of results) {
      this.#enter(tag, result);
      this.#calls.nextRunNum();
    }
  }

  /**
   * Runs chunks in their order.
   * @throws If the job is to end.
   */
  async all(chunks: readonly Chunk[]): Promise<void> {
    this.#runContext.chunks = chunks;
    let waiting: Chunk[] = [];
    let killed = false;
    for (const chunk of chunks) {
      waiting = await this.#waiting(waiting);
      if (this.#stopped) return await this.#end();
      if (this.results.has(chunkTag(chunk))) continue;
      if (await this.#setting.watch?.before?.(chunk) === "kill") {
        killed = true;
        break;
      }
      if (await this.chunk(chunk)) waiting.push(chunk);
      if (this.#stops(chunk)) return await this.#end();
    }
    while (waiting.length > 0) {
      const left = await this.#waiting(waiting);
      if (this.#stopped) return await this.#end();
      if (left.length === waiting.length) await this.#parallel.next();
      waiting = left;
    }
    await this.#parallel.all();
    this.#stopped ||= killed;
  }

  /** Runs those that listen, also after a failure that ended the run. */
  async listeners(chunks: readonly Chunk[]): Promise<void> {
    const stopped = this.#stopped;
    this.#stopped = false;
    await this.all(chunks);
    this.#stopped ||= stopped;
  }

  /** After a failure that ends the run: waits for the parallel states. */
  async #end(): Promise<void> {
    this.#stopped = true;
    await this.#parallel.all();
  }

  /** Whether the run ended before its last state. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /**
   * Tries chunks again that waited for others.
   * @returns Those that still do.
   */
  async #waiting(chunks: readonly Chunk[]): Promise<Chunk[]> {
    const still: Chunk[] = [];
    for (const chunk of chunks) {
      if (this.results.has(chunkTag(chunk))) continue;
      if (await this.chunk(chunk)) still.push(chunk);
      if (this.#stops(chunk)) this.#stopped = true;
      if (this.#stopped) return still;
    }
    return still;
  }

  #stops(chunk: Chunk): boolean {
    if (this.#stopped) return true;
    const own = chunk.get("failhard");
    if (this.#runContext.test || !(own === undefined ? this.#setting.failhard : truthy(own))) return false;
    return this.results.get(chunkTag(chunk))?.get("result") === false;
  }

  /**
   * Runs a chunk, and before it what it requires and has not run.
   * @returns Whether it waits for parallel states.
   */
  async chunk(given: Chunk, depth = 0): Promise<boolean> {
    this.#runContext.job.signal.throwIfAborted();
    const chunk = await this.#aggregate(given);
    await this.#initialize(chunk);
    const tag = chunkTag(chunk);
    const required = this.#setting.dependencies.of(given);
    const status = await this.#status(chunk, required);
    if (status === "pending") return true;
    if (status === "unmet") return await this.#unmet(given, chunk, depth);
    await this.#by(status, { chunk, tag, required });
    const result = this.results.get(tag);
    if (result !== undefined) await this.#report(chunk, result, tag);
    return false;
  }

  async #status(chunk: Chunk, required: Required): Promise<Status> {
    if (required.size === 0) return "met";
    // A parallel state does not block the run.
    if (!truthy(chunk.get("parallel"))) {
      for (const chunks of required.values()) await this.#parallel.ended(chunks.map(chunkTag));
    }
    return requisiteStatus(required, {
      of: (needed, isPrereq) => (isPrereq ? this.#tested : this.results).get(chunkTag(needed)),
      isRunning: (needed) => this.#parallel.isRunning(chunkTag(needed)),
    });
  }

  async #by(
    status: Status,
    { chunk, tag, required }: { chunk: Chunk; tag: string; required: Required },
  ): Promise<void> {
    const isTest = chunk.get("__prereq__") === true;
    const comment = COMMENTS[status];
    if (comment !== undefined) this.#notRun(chunk, tag, { result: true, comment });
    else if (status === "fail") this.#failed(chunk, tag, required);
    else if (status === "skip_watch" && !isTest) {
      const result = await this.#call(chunk, tag);
      const added = " mod_watch was not run because requisites were skipped by another state";
      this.#enter(tag, result.set("comment", `${field(result, "comment")}${added}`));
    } else if (status === "change" && !isTest) this.#enter(tag, await this.#watched(chunk, tag, required));
    else if (isTest) this.#tested.set(tag, await this.#call(chunk, tag));
    else this.#enter(tag, await this.#call(chunk, tag));
  }

  async #call(chunk: Chunk, tag: string): Promise<ValueMap> {
    this.#setting.watch?.started?.(chunk, tag);
    return await this.#calls.call(chunk);
  }

  #enter(tag: string, result: ValueMap): void {
    this.results.set(tag, result);
  }

  /** Something that is watched has changed: `mod_watch` is called where the state itself has nothing to change. */
  async #watched(chunk: Chunk, tag: string, required: Required): Promise<ValueMap> {
    const result = await this.#call(chunk, tag);
    this.#enter(tag, result);
    // Whether a parallel state changed something is known when it has ended.
    await this.#parallel.ended([tag]);
    if (truthy(result.get("changes")) || truthy(result.get("skip_watch"))) return result;
    const watching = new Map(chunk);
    watching.delete("parallel");
    watching.set("sfun", chunk.get("fun") ?? null).set("fun", "mod_watch");
    watching.set("__reqs__", new Map<Value, Value>([...required].map(([kind, chunks]) => [kind, [...chunks]])));
    return await this.#calls.call(watching);
  }

  #notRun(chunk: Chunk, tag: string, { result, comment }: { result: boolean; comment: string }): void {
    const made = notRun(chunk, { result, comment, runNum: this.#calls.nextRunNum() });
    this.#enter(tag, made);
    if (chunk.get("__prereq__") === true) this.#tested.set(tag, made);
  }

  /** The result of a state whose requisites failed. */
  #failed(chunk: Chunk, tag: string, required: Required): void {
    const tested = this.#tested.get(tag);
    if (tested !== undefined) {
      // It was only tested, for another state, which failed: its changes are not made.
      if (truthy(tested.get("changes"))) tested.set("changes", new Map());
      this.#enter(tag, withOwner(tested.set("__run_num__", this.#calls.nextRunNum()), chunk));
      return;
    }
    const names = new Set<string>();
    for (const chunks of required.values()) {
      for (const needed of chunks) {
        const of = chunkTag(needed);
        const result = this.#tested.get(of) ?? this.results.get(of);
        if (result?.get("result") === false) names.add(`${field(needed, "__sls__")}.${field(needed, "__id__")}`);
      }
    }
    this.#notRun(chunk, tag, { result: false, comment: `One or more requisite failed: ${[...names].join(", ")}` });
  }

  /**
   * Runs what `chunk` requires, then itself, unless a failure ends the run.
   * @returns Whether it waits for others.
   */
  async #unmet(given: Chunk, chunk: Chunk, depth: number): Promise<boolean> {
    // Iterative: a chain of thousands would overflow the stack.
    await Promise.resolve();
    for (const chunks of this.#setting.dependencies.of(given).values()) {
      for (const needed of chunks) {
        if (this.results.has(chunkTag(needed))) continue;
        if (await this.chunk(needed)) return true;
        if (this.#stops(needed)) {
          this.#stopped = true;
          return false;
        }
      }
    }
    const tag = chunkTag(chunk);
    if (chunk.get("__prereq__") === true) await this.#tests(given, chunk, tag);
    else if (depth + 1 >= MAX_DEPTH) {
      const comment = "Recursive requisite found";
      const result = map({ changes: {}, result: false, comment, __run_num__: this.#calls.nextRunNum() });
      this.#enter(tag, withOwner(result, chunk));
      await this.#report(chunk, result, tag);
    } else if (await this.chunk(given, depth + 1)) return true;
    this.#stopped ||= this.#stops(chunk);
    return false;
  }

  /** The run in test mode of a chunk whose requisites have just run. */
  async #tests(given: Chunk, chunk: Chunk, tag: string): Promise<void> {
    const status = await this.#status(chunk, this.#setting.dependencies.of(given));
    if (status === "pre") {
      const comment = "No changes detected";
      this.#tested.set(tag, notRun(chunk, { result: true, comment, runNum: this.#calls.nextRunNum() }));
      return;
    }
    const result = await this.#call(chunk, tag);
    this.#tested.set(tag, result);
    if (truthy(result.get("changes")) || status !== "change") return;
    result.set("changes", map({ watch: "watch" })).set("result", null);
  }

  /** The chunk as its module joins it with others that may run as one call. */
  async #aggregate(chunk: Chunk): Promise<Chunk> {
    const aggregated = this.#aggregated.get(chunk);
    if (aggregated !== undefined) return aggregated;
    const group = this.#setting.dependencies.group(chunk);
    const name = `${field(chunk, "state")}.mod_aggregate`;
    const fun = group.length > 0 ? await this.#runContext.function(name) : undefined;
    if (fun === undefined) return chunk;
    chunk.set("__agg__", true);
    const bound = { low: chunk, chunks: group, running: new Map<Value, Value>(this.results) };
    const aggregate = await callHook(fun, this.#runContext.contextOf(chunk), bound);
    const merged = isMap(aggregate) ? aggregate : chunk;
    this.#aggregated.set(chunk, merged);
    return merged;
  }

  /** Calls a module's `mod_init` before its first state, and again until it says that it is done. */
  async #initialize(chunk: Chunk): Promise<void> {
    const module = field(chunk, "state");
    if (this.#initialized.has(module)) return;
    const fun = await this.#runContext.function(`${module}.mod_init`);
    if (fun === undefined) {
      this.#initialized.add(module);
      return;
    }
    if (await this.#runContext.function(functionNameOf(chunk)) === undefined) return;
    const done = await callHook(fun, this.#runContext.contextOf(chunk), { low: chunk });
    if (truthy(done)) this.#initialized.add(module);
  }

  /** Calls a chunk that requires nothing, and waits for it. */
  async alone(chunk: Chunk): Promise<ValueMap> {
    const result = await this.#calls.call(chunk);
    this.#enter(chunkTag(chunk), result);
    await this.#parallel.all();
    if (!truthy(chunk.get("parallel"))) this.#log(chunk, result);
    return result;
  }

  /** Calls `mod_init` of the module of a chunk that runs alone. */
  async initialize(chunk: Chunk): Promise<void> {
    await this.#initialize(chunk);
  }

  async #report(chunk: Chunk, result: ValueMap, tag: string): Promise<void> {
    await this.#setting.watch?.after?.(chunk, result, tag);
    this.#log(chunk, result);
    const inner = result.get("sub_state_run");
    result.delete("sub_state_run");
    for (const sub of listOrEmpty(inner)) if (isMap(sub)) this.#enterInner(sub, chunk);
  }

  /** A parallel state that has just started has nothing to tell yet. */
  #log(chunk: Chunk, result: ValueMap): void {
    const line = stateLine(chunk, result);
    if (line === undefined) return;
    const { job } = this.#runContext;
    // salt-call prints the result: a failed state is no second time on its terminal.
    job.log(job.job.tgt === SALT_CALL_TARGET ? "info" : line.level, line.text);
  }

  /** Enters the result of a state inside another one. */
  #enterInner(sub: ValueMap, chunk: Chunk): void {
    const low = sub.get("low");
    if (!isMap(low)) return;
    const { start_time, duration } = startClock()();
    const result = map({
      name: low.get("name") ?? null,
      changes: sub.get("changes") ?? new Map(),
      result: sub.get("result") ?? null,
      duration: sub.get("duration") ?? duration,
      start_time: sub.get("start_time") ?? start_time,
      comment: sub.get("comment") ?? "",
      __state_ran__: true,
      __run_num__: this.#calls.nextRunNum() + 1,
    });
    this.#enter(chunkTag(low), withOwner(result, chunk));
  }
}

function takeChunks<T>(all: Map<string, T>, tag: string): T | undefined {
  const chunks = all.get(tag);
  all.delete(tag);
  return chunks;
}

/** The tag of the state to which a call belongs: a call of `mod_watch` belongs to its state. */
function ownTag(chunk: Chunk): string {
  const fun = chunk.get("sfun");
  return chunkTag(fun === undefined ? chunk : new Map(chunk).set("fun", fun));
}

/** The number of parallel states that an option allows; 0: any. */
export function maxParallelOf(option: Value | undefined): number {
  return toNumber(option) ?? 0;
}
