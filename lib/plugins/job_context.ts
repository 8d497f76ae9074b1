/**
 * The interface of an execution module's function to the minion that it runs on. The job worker implements them by
 * messages to the minion's main thread; `salt-call --local` and tests implement them directly. Modules import this file
 * and `module.ts`, never a service.
 * @module
 */

import type { ChildRunner } from "#lib/programs/child_process.ts";
import type { DetachedCommand } from "#lib/programs/detached_commands.ts";
import type { BackendTable } from "./file_backend.ts";
import type { Family, Functions } from "./loader.ts";
import { type Declaration, declare, type ModuleFunction, type Parameters } from "./module.ts";
import type { BuiltInRenderers } from "./renderer.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { Question } from "#lib/protocol/question.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** A running job of this minion, as in `saltutil.running` and Salt's `proc/<jid>` files. */
export interface RunningJob {
  readonly jid: string;
  readonly fun: string;
  /** Its arguments as in the load. */
  readonly arg: Value;
  readonly tgt: Value;
  /** The target's type: `glob`, `list`, …. */
  readonly tgt_type: string;
  /** Returners, comma-separated. */
  readonly ret: string;
  /** The user that started it. */
  readonly user: string;
  /** The process that runs it: a command of it, or the process of its module; `null`: it has none. */
  readonly pid: number | null;
}

/** The jobs of this minion. */
export interface Jobs {
  /** All running jobs, including the caller's. */
  running(): Promise<RunningJob[]>;
  /**
   * Sends a signal to a job: to its commands; SIGKILL (9) also ends its worker.
   * @returns Whether the job was running.
   */
  signal(jid: string, signal: number): Promise<boolean>;
}

/** A step of the minion's start that can be repeated. */
export type Refresh = "modules" | "grains" | "pillar";

/** A function's request for a pillar. */
export interface PillarQuery {
  /** Values that win over all others. */
  readonly override?: ValueMap;
  /** The environment to take it from. Default: the minion's. */
  readonly pillarenv?: string | null;
  /** The environment of states. Default: the minion's. */
  readonly saltenv?: string | null;
  /** An external pillar on demand: `{name: arguments}`. */
  readonly ext?: Value;
  /** Whether the master's `pillar_cache` is bypassed. */
  readonly cleanCache?: boolean;
  /** Whether the result of this host's own `master_tops` is wanted instead. Only where the host compiles its pillar. */
  readonly tops?: boolean;
}

/** Access to the world outside the job's process. */
export interface Outside {
  /**
   * Sends an encrypted request to the master and returns its reply.
   * @throws {NoMasterError} With `salt-call --local`.
   */
  request(load: ValueMap): Promise<Value>;
  /** Fires an event on the minion's own bus. */
  fire(data: ValueMap, tag: string): Promise<boolean>;
  /**
   * Asks the main thread of the running minion by an event on its bus, and waits for the event that answers it.
   * @returns The data of the answer.
   * @throws {NoMinionError} If no minion is running on this host.
   * @throws {RequestTimeoutError} If it does not answer in time.
   * @throws {CommandError} If it could not do it; with its reason.
   */
  ask(question: Question): Promise<ValueMap>;
  /**
   * Compiles this minion's pillar again: on its master, or here if it has none. The pillar in memory stays.
   * @throws {NoMasterError} If neither is possible.
   */
  pillar(query: PillarQuery): Promise<ValueMap>;
  /** Collects this minion's grains now. A minion that runs this uses them from now on. */
  grains(): Promise<ValueMap>;
  /**
   * Makes the minion repeat a step of its start. A job of the minion waits until it is done; another process only if it
   * says for how many seconds, and for the pillar only.
   */
  refresh(what: Refresh, options?: { readonly waitS?: number }): Promise<boolean>;
}

/** The function of a catalogue that says why plugins in Python do not load: a map of texts by `FAMILY/NAME`. */
export const OWN_PROBLEMS = "python/problems";

/** The plugins of a minion that its jobs use. */
export interface Catalogue extends Family<JobContext> {
  /** The state functions, `file.managed`; a module's `mod_watch`, `mod_aggregate` and so on are among them. */
  readonly states: Functions<StateContext>;
  /** The user's own renderers: `upper.render`. Absent: there are none. */
  readonly renderers?: Pick<Functions<JobContext>, "get">;
  /** The built-in returners and those that this process has loaded; `get` has all, as `returners/NAME.FUN`. */
  readonly returners?: Functions<JobContext>;
  /** The names of the user's own modules of other families, as `beacons/NAME`. Absent: there are none. */
  readonly ownModules?: readonly string[];
  readonly builtInRenderers: BuiltInRenderers;
  /** The backends of the file server, for a minion without a master. */
  readonly fileBackends: BackendTable;
}

/** Called with a command's output as it is read. */
export type CommandWatch = (stream: "stdout" | "stderr", bytes: Uint8Array) => void;

/** The context of an execution module's function. */
export interface JobContext {
  readonly opts: MinionOpts;
  readonly grains: ValueMap;
  readonly pillar: ValueMap;
  /** The job's load: `jid`, `fun`, `user`, `tgt`, …; with `salt-call`, made up by `salt-call`. */
  readonly job: Readonly<Record<string, Value>>;
  /** All functions of this minion. */
  readonly catalogue: Catalogue;
  readonly jobs: Jobs;
  /** The access to the master and the minion's bus. */
  readonly outside: Outside;
  /** Aborted when the job must end: kill children, leave waits. */
  readonly signal: AbortSignal;
  /**
   * Calls another function of this minion with positional and keyword arguments.
   * @throws {UnavailableError}
   */
  call(name: string, args?: Value[], kwargs?: ValueMap): Promise<Value>;
  /** Sets the job's return code (`__context__["retcode"]`). */
  setRetcode(retcode: number): void;
  /**
   * Adds to the errors that the function returns what people are told besides: a text for each of them, empty for none.
   * The return itself has Salt's texts, because programs compare them. Absent: nobody would be shown it.
   */
  readonly setErrorDetails?: (details: readonly string[]) => void;
  /**
   * Reports to the minion that this job has started or ended a child process, so that `saltutil.kill_job` can signal
   * it.
   */
  child(pid: number, state: "started" | "ended"): void;
  /** Runs a command so that it outlives the minion. If absent, commands end with their job's process. */
  readonly runChild?: ChildRunner;
  /**
   * Begins to send the output of a command to clients that watch the job; `undefined` if there are none.
   * @param encoding Python's name of the output's encoding; `null` is UTF-8.
   */
  readonly watchCommand?: (encoding: string | null) => CommandWatch;
  /** All low chunks of the run of states that calls the function, in their order. Absent: there is none. */
  readonly chunks?: readonly ValueMap[];
  /** Shows the result of a state, one of `total`, to the user of this process. With a master, events report states. */
  readonly watchState?: (result: ValueMap, total: number) => void;
  /** Whether states say what will be in the files that they would make: a plan is made. */
  readonly isPlan?: boolean;
  /** Whether `pillar.*` show values without `unmask`: the caller is a template. Default: they are masked. */
  readonly showsPillar?: boolean;
  /**
   * Commands of this job that continued when its minion ended: the job is run again. The first ones that `runChild`
   * gets are these.
   */
  readonly detachedCommands?: readonly DetachedCommand[];
  /** The user that commands run as if a call names none: a state's argument `runas`. */
  readonly runas?: string;
  /** Writes to the minion's log. */
  log(level: "error" | "mistake" | "warning" | "info" | "debug", message: string): void;
}

/** The context of a state function: that of the job which runs the state, with the data of the run. */
export interface StateContext extends JobContext {
  /**
   * Test mode: nothing may be changed, the state only reports what it would change (`test=True`). `opts.test` is the
   * same.
   */
  readonly test: boolean;
  /** The low chunk that is run: `__low__`. */
  readonly low: ValueMap;
  /** All low chunks of the run in their order: `__lowstate__`. */
  readonly chunks: readonly ValueMap[];
  /** The results so far, by tag: `__running__`. */
  readonly running: ReadonlyMap<string, ValueMap>;
  /** Data that states share during the run: `__context__`. Keys begin with the module's name. */
  readonly shared: Map<string, unknown>;
  /**
   * Calls another state function, `file.managed`, in the same mode: `__states__`.
   * @throws {UnavailableError}
   */
  state(fun: string, kwargs: ValueMap): Promise<ValueMap>;
}

/** Declares a function of an execution module. */
export function fn<P extends Parameters>(declaration: Declaration<P, JobContext>): ModuleFunction<JobContext> {
  return declare(declaration);
}
