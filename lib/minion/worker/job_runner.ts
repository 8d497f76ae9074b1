/**
 * Runs the jobs of a minion one after the other, in a worker of the minion or in a process of a custom module. A job
 * asks the minion's main thread for everything outside its worker.
 *
 * Knows the messages, not their transport.
 * @module
 */

import type { ChildRunner } from "#lib/programs/child_process.ts";
import {
  CommandError,
  CommandLostError,
  InvocationError,
  JobEndedError,
  messageOf,
  RequestTimeoutError,
  WireError,
} from "#lib/errors.ts";
import { execute, executeLogged, executeMany, type ExecutionResult, type MultiResult } from "#lib/plugins/execution.ts";
import { executorFunctions, type Executors, executorsOf } from "#lib/plugins/executors.ts";
import type { Catalogue, JobContext, RunningJob } from "#lib/plugins/job_context.ts";
import {
  type FromJob,
  type HostData,
  type MinionRequest,
  pack,
  type ThrownError,
  type ToJob,
  unpackValue,
  UNPUBLISHED,
} from "./job_protocol.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import { IdleMemory } from "#lib/runtime/idle_memory.ts";
import { fieldsOf, has, readInteger, readText } from "#lib/runtime/message_fields.ts";
import { makeContext } from "#lib/plugins/job_scope.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { interruptedReturn, interruptedWithCommands } from "./interrupted.ts";
import { type DetachedCommand, detachedCommands } from "#lib/programs/detached_commands.ts";
import { ERROR_DETAILS } from "#lib/protocol/error_details.ts";
import { isNoLog } from "#lib/protocol/no_log.ts";
import { ANSWER_S } from "#lib/protocol/question.ts";
import { packPillarQuery } from "./pillar_query.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The functions of a job by name; `undefined` for what no module has. */
export type JobFunctions = ReadonlyMap<string, ModuleFunction<JobContext> | undefined>;

/** What a job runner needs. */
export interface RunnerParts {
  readonly opts: MinionOpts;
  /** What it knows at first. */
  readonly hostData: HostData;
  /** All functions. */
  readonly catalogue: Catalogue;
  readonly log: Logger;
  /** Whether outcomes contain thrown errors. */
  readonly sendErrors?: boolean;
  /** Whether thrown errors are also logged. Default: yes. */
  readonly logFailures?: boolean;
  /** Sends a message to the minion's main thread. */
  post(message: FromJob): void;
  /** Called when a job is about to begin. */
  begin(): void;
  /** Called when a job has ended. */
  end?(): void;
  /**
   * Runs the commands of a job so that they outlive the minion. Default: they end with this process.
   * @param kept Those that outlived an earlier minion, in the order of their start.
   */
  runChild?(load: ValueMap, detached: readonly DetachedCommand[]): ChildRunner;
  /** Called with a job's commands. */
  child(pid: number, state: "started" | "ended"): void;
  /**
   * Checks the functions of a job before the first is called.
   * @returns A message instead of a run, if the job must not be run here.
   */
  admit(functions: JobFunctions, message: ToJob & { readonly kind: "run" }): FromJob | undefined;
}

/** From this size on, an outcome must not stay in memory after it was returned. */
const LARGE_BYTES = 1 << 16;

/** Runs jobs. */
export class JobRunner {
  readonly #parts: RunnerParts;
  readonly #memory = new IdleMemory();
  readonly #pending = new Map<number, PromiseWithResolvers<Value>>();
  #grains: ValueMap = new Map();
  #pillar: ValueMap = new Map();
  #asks = 0;
  #abort = new AbortController();
  #doing = "waiting for a job";
  #current: JobContext | undefined;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#setHostData(parts.hostData);
  }

  /** The minion's grains now. */
  get grains(): ValueMap {
    return this.#grains;
  }

  /**
   * The context of the job that runs now.
   * @throws {Error} If there is none.
   */
  get context(): JobContext {
    if (this.#current === undefined) throw new Error("no job runs");
    return this.#current;
  }

  /** One line: what it is doing. */
  describe(): string {
    return this.#doing;
  }

  /** Sends a request to the main thread. */
  ask(request: MinionRequest): Promise<Value> {
    const id = this.#asks++;
    const waiting = Promise.withResolvers<Value>();
    this.#pending.set(id, waiting);
    this.#parts.post({ kind: "ask", id, request });
    return waiting.promise;
  }

  /** Handles a message of the main thread. */
  receive(message: ToJob): void {
    switch (message.kind) {
      case "run":
        return void this.#run(message);
      case "abort":
        return this.#abort.abort(new JobEndedError(message.signal));
      case "host_data":
        return this.#setHostData(message.hostData);
      case "answer":
        return this.#settle(message.id)?.resolve(unpackValue(message.value));
      case "refused":
        return this.#settle(message.id)?.reject(
          message.timeout === undefined
            ? new Error(message.reason)
            : new RequestTimeoutError(message.timeout.address, message.timeout.waitedMs),
        );
    }
  }

  #settle(id: number): PromiseWithResolvers<Value> | undefined {
    const waiting = this.#pending.get(id);
    this.#pending.delete(id);
    return waiting;
  }

  #setHostData({ grains, pillar, master }: HostData): void {
    if (master !== undefined) {
      Object.assign(this.#parts.opts, { master: master.host, master_port: master.port } satisfies Partial<MinionOpts>);
    }
    this.#grains = asMap(unpackValue(grains));
    this.#pillar = asMap(unpackValue(pillar));
  }

  async #run(message: ToJob & { readonly kind: "run" }): Promise<void> {
    try {
      await this.#runJob(message);
    } finally {
      this.#parts.end?.();
    }
  }

  async #runJob(message: ToJob & { readonly kind: "run" }): Promise<void> {
    const { post, log } = this.#parts;
    const load = asMap(unpackValue(message.load));
    const fun = load.get("fun") ?? null;
    const args = load.get("arg");
    const arg = message.call === undefined ? Array.isArray(args) ? args : [] : exactArguments(message.call);
    this.#abort = new AbortController(); // before the first wait: from now on the job may be ended
    const names = (Array.isArray(fun) ? fun : [fun]).map(str);
    const detached = message.resumed ? detachedCommands(this.#parts.opts.cachedir, str(load.get("jid") ?? "")) : [];
    const context = this.#current = this.#context(load, detached);
    const functions = await this.#functions(names);
    if (functions instanceof Error) return post({ kind: "done", outcome: pack(unloadable(functions)) });
    const executors = () => executorsOf(load, this.#parts.opts.module_executors);
    const callers = await this.#executors(executors);
    if (callers instanceof Error) return post({ kind: "done", outcome: pack(unloadable(callers)) });
    const admitted = new Map([...names.map((name, i) => [name, functions[i]] as const), ...callers]);
    const instead = this.#parts.admit(admitted, message);
    if (instead !== undefined) return post(instead);
    this.#parts.begin();
    this.#doing = `running ${str(fun)} for job ${str(load.get("jid") ?? null)}`;
    if (message.resumed && !names.every((_name, i) => functions[i]?.resumable)) {
      const interrupted = await this.#interrupted(context, detached);
      this.#doing = "waiting for a job";
      return post({ kind: "done", outcome: pack(interrupted) });
    }
    const outcome = Array.isArray(fun)
      ? await executeMany({ fun: names, arg: Array.isArray(arg) ? arg : [] }, context, {
        ordered: this.#parts.opts.multifunc_ordered,
        executors,
      })
      : await (this.#parts.logFailures === false ? execute : executeLogged)(str(fun), arg, context, executors);
    this.#doing = "waiting for a job";
    if (isNoLog(load) && "error" in outcome) log.error(`Function '${str(fun)}' failed; it is a no_log job`);
    const packedOutcome = pack(this.#outcomeFields(outcome, message, isNoLog(load)));
    this.#memory.worked(message.load.length + packedOutcome.length);
    post({ kind: "done", outcome: packedOutcome });
    // Deno keeps a worker's last message until the next one comes: this small one frees up to 10 MB.
    if (packedOutcome.length > LARGE_BYTES) post({ kind: "after_large_outcome" });
  }

  /** The functions of a job, or why they cannot be found: there is no Python for one. */
  async #functions(names: readonly string[]): Promise<(ModuleFunction<JobContext> | undefined)[] | Error> {
    try {
      return await Promise.all(names.map((name) => this.#parts.catalogue.get(name)));
    } catch (error) {
      if (error instanceof CommandError || error instanceof JobEndedError) return error;
      throw error;
    }
  }

  /** The functions of the plugins that call those of a job, by name. What is wrong with them is told by a call. */
  async #executors(choose: () => Executors | undefined): Promise<JobFunctions | Error> {
    let names: string[];
    try {
      const chosen = choose();
      names = chosen === undefined ? [] : executorFunctions(chosen);
    } catch (error) {
      if (error instanceof InvocationError) return new Map();
      throw error;
    }
    const functions = await this.#functions(names);
    return functions instanceof Error ? functions : new Map(names.map((name, i) => [name, functions[i]]));
  }

  /** The outcome of a job that cannot be run again, but whose commands continued. */
  async #interrupted({ runChild, signal, child }: JobContext, detached: readonly DetachedCommand[]): Promise<ValueMap> {
    if (runChild === undefined) return interruptedReturn("running");
    return await interruptedWithCommands(detached, runChild, { signal, child, outputMax: 0 });
  }

  /** The outcome as it is sent. */
  #outcomeFields(
    outcome: ExecutionResult | MultiResult,
    { resumed, call }: ToJob & { readonly kind: "run" },
    isHidden: boolean,
  ): Record<string, unknown> {
    const isCalled = call !== undefined;
    if (resumed && "error" in outcome && outcome.error instanceof CommandLostError) {
      return Object.fromEntries(interruptedReturn("running", [outcome.error.message]));
    }
    const { return: result, retcode, success } = outcome;
    const fields: Record<string, unknown> = { return: result, retcode, success };
    if ("out" in outcome && outcome.out !== undefined) fields.out = outcome.out;
    if ("errorDetails" in outcome && !isHidden) fields[ERROR_DETAILS] = outcome.errorDetails;
    if ("error" in outcome && outcome.error !== undefined) fields.threw = true;
    if ((this.#parts.sendErrors || isCalled) && "error" in outcome && outcome.error !== undefined) {
      fields.error = describeThrown(outcome.error);
    }
    return fields;
  }

  #watch(): NonNullable<JobContext["watchCommand"]> {
    let commands = 0;
    return (encoding) => {
      const command = ++commands;
      return (stream, bytes) => this.#parts.post({ kind: "output", written: { command, stream, bytes, encoding } });
    };
  }

  #context(load: ValueMap, detached: readonly DetachedCommand[]): JobContext {
    return makeContext({
      opts: this.#parts.opts,
      grains: this.#grains,
      pillar: this.#pillar,
      job: load.has(UNPUBLISHED) ? new Map() : load,
      catalogue: this.#parts.catalogue,
      signal: this.#abort.signal,
      log: isNoLog(load) ? SILENT_LOGGER : this.#parts.log,
      watchCommand: load.get("live") === true ? this.#watch() : undefined,
      child: (pid, state) => this.#parts.child(pid, state),
      runChild: this.#parts.runChild?.(load, detached),
      ...detached.length > 0 && { detachedCommands: detached },
      jobs: {
        running: async () => runningJobs(await this.ask({ what: "running" })),
        signal: async (jid, signal) => await this.ask({ what: "signal", jid, signal }) === true,
      },
      outside: {
        request: (request) => this.ask({ what: "request", load: pack(request) }),
        fire: async (data, tag) => await this.ask({ what: "fire", data: pack(data), tag }) === true,
        ask: async ({ tag, data, answerTag, waitS = ANSWER_S }) => {
          try {
            return asMap(await this.ask({ what: "ask", data: pack(data), tag, answerTag, waitS }));
          } catch (error) {
            // The main thread's refusals are texts for the operator.
            throw error instanceof RequestTimeoutError ? error : new CommandError(messageOf(error));
          }
        },
        pillar: async (query) => asMap(await this.ask({ what: "pillar", query: packPillarQuery(query) })),
        grains: async () => asMap(await this.ask({ what: "grains" })),
        refresh: async (refresh) => await this.ask({ what: "refresh", refresh }) === true,
      },
    });
  }
}

/** The outcome of a job whose functions cannot be found. */
function unloadable({ message }: Error): ExecutionResult {
  return { return: `ERROR: ${message}`, retcode: 1, success: false, out: "nested" };
}

function asMap(value: Value): ValueMap {
  if (!isMap(value)) throw new TypeError("the main thread sent a value that is not a map");
  return value;
}

/**
 * The minion's answer to `running`.
 * @throws {WireError} If it is none.
 */
function runningJobs(answer: Value): RunningJob[] {
  if (!Array.isArray(answer)) throw new WireError("the running jobs are not a list");
  return answer.map((job) => {
    const fields = fieldsOf(job);
    const value = (name: string): Value => (isMap(job) ? job.get(name) : undefined) ?? null;
    return {
      jid: readText(fields, "jid"),
      fun: readText(fields, "fun"),
      arg: value("arg"),
      tgt: value("tgt"),
      tgt_type: readText(fields, "tgt_type"),
      ret: readText(fields, "ret"),
      user: readText(fields, "user"),
      pid: has(fields, "pid") ? readInteger(fields, "pid", Number.MAX_SAFE_INTEGER) : null,
    };
  });
}

/** Arguments that are passed unchanged: a text with a `=` is not a keyword argument. */
function exactArguments(packed: Uint8Array): { readonly args: Value[]; readonly kwargs: ValueMap } {
  const given = asMap(unpackValue(packed));
  const [args, kwargs] = [given.get("args") ?? null, given.get("kwargs") ?? null];
  return { args: Array.isArray(args) ? args : [], kwargs: isMap(kwargs) ? kwargs : map({}) };
}

function describeThrown(error: Error): ThrownError {
  const usage = error instanceof InvocationError ? error.usage : undefined;
  return { name: error.name, message: error.message, ...usage !== undefined && { usage } };
}
