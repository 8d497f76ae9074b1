/**
 * What an execution module's function may reach: the minion it runs on, through a few methods.
 *
 * The job worker implements it over messages to the minion's main thread; `salt-call --local` and tests implement it
 * directly. Modules import this and `module.ts`, never a service.
 * @module
 */

import { type Declaration, declare, type ModuleFunction, type Parameters } from "./module.ts";
import type { MinionOpts } from "../config/options.ts";
import type { Value, ValueMap } from "../values/value.ts";

/** A job that this minion is running, as `saltutil.running` and Salt's `proc/<jid>` files show it. */
export interface RunningJob {
  /** The job's id. */
  readonly jid: string;
  /** The function. */
  readonly fun: string;
  /** Its arguments as the load had them. */
  readonly arg: Value;
  /** What the operator aimed at. */
  readonly tgt: Value;
  /** How that is meant: `glob`, `list`, …. */
  readonly tgt_type: string;
  /** Returners, comma-separated. */
  readonly ret: string;
  /** Who started it. */
  readonly user: string;
  /** The process that runs it. */
  readonly pid: number;
}

/** The jobs of this minion. */
export interface Jobs {
  /** Every job that is being run now, the asking one included. */
  running(): Promise<RunningJob[]>;
  /**
   * Sends a signal to a job: to the commands that it runs; SIGKILL (9) ends its worker as well.
   * @returns Whether a job of that id was running.
   */
  signal(jid: string, signal: number): Promise<boolean>;
}

/** What the minion's own main loop does when it is told to. */
export type Refresh = "modules" | "grains" | "pillar";

/** The minion's way to the world outside its process. */
export interface Outside {
  /** Sends an AES request to the master and gives its reply. @throws {NoMasterError} Under `salt-call --local`. */
  request(load: ValueMap): Promise<Value>;
  /** Fires an event on the minion's own bus. */
  fire(data: ValueMap, tag: string): Promise<boolean>;
  /** Has the minion do again what it did at its start. */
  refresh(what: Refresh): Promise<boolean>;
}

/** One function as `sys` shows it. */
export interface CatalogueEntry {
  /** `test.ping`. */
  readonly name: string;
  /** What it is. */
  readonly fun: ModuleFunction<JobContext>;
}

/** The functions of the execution modules; a module is loaded when it is first asked for. */
export interface Catalogue {
  /** The function called `name` (`test.ping`), if a module has it. */
  get(name: string): Promise<ModuleFunction<JobContext> | undefined>;
  /** Every function, sorted by name; this loads every module. */
  all(): Promise<readonly CatalogueEntry[]>;
  /** The modules that could not be loaded when that was tried, and why. */
  problems(): ReadonlyMap<string, string>;
}

/** Takes what a command writes, as it is read. */
export type CommandWatch = (stream: "stdout" | "stderr", bytes: Uint8Array) => void;

/** What a function of an execution module runs with. */
export interface JobContext {
  /** The minion's options. */
  readonly opts: MinionOpts;
  /** What the minion knows of its host. */
  readonly grains: ValueMap;
  /** What the master lets it know. */
  readonly pillar: ValueMap;
  /** The load of the job: `jid`, `fun`, `user`, `tgt`, …; under `salt-call`, what `salt-call` made up. */
  readonly job: Readonly<Record<string, Value>>;
  /** All functions of this minion. */
  readonly catalogue: Catalogue;
  /** The jobs of this minion. */
  readonly jobs: Jobs;
  /** The way to the master and the minion's bus. */
  readonly outside: Outside;
  /** Aborted when the job is to end: children are to be killed, waits to be left. */
  readonly signal: AbortSignal;
  /** Calls another function of this minion with positional and keyword arguments. @throws {UnavailableError} */
  call(name: string, args?: Value[], kwargs?: ValueMap): Promise<Value>;
  /** Sets the job's return code (`__context__["retcode"]`). */
  setRetcode(retcode: number): void;
  /** Tells the minion that this job has started or ended a child process, so that `saltutil.kill_job` finds it. */
  child(pid: number, state: "started" | "ended"): void;
  /**
   * Begins to show the output of one of the job's commands to whoever watches the job; `undefined` if nobody does.
   * @param encoding Python's name of the output's encoding; `null` is UTF-8.
   */
  readonly watchCommand?: (encoding: string | null) => CommandWatch;
  /** Writes to the minion's log. */
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

/** Declares a function of an execution module. */
export function fn<P extends Parameters>(declaration: Declaration<P, JobContext>): ModuleFunction<JobContext> {
  return declare(declaration);
}
