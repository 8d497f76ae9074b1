/**
 * The context of a runner's function: the master's options, its stores, and its minions through the local client.
 *
 * `salt-run` and the master's other callers of runners implement it. Runners import this and `lib/plugins/module.ts`,
 * never a service.
 * @module
 */

import type { DataCache } from "#lib/fleet/data_cache.ts";
import type { JobReturn, JobStore } from "#lib/jobs/store.ts";
import type { JobOutcome } from "#lib/jobs/outcomes.ts";
import type { KeyManager } from "#lib/keys/manager.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import type { Family } from "#lib/plugins/loader.ts";
import { type Declaration, declare, type ModuleFunction, type Parameters } from "#lib/plugins/module.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { Outcome } from "#lib/protocol/outcome.ts";
import type { Signs } from "./signed_request.ts";
import type { OutputListener } from "./output_follower.ts";
import type { EventData } from "#lib/bus/event.ts";
import type { PillarRequest } from "#lib/pillar/request.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The return of one minion. */
export interface LocalReturn {
  /** The function's result. */
  readonly return: Value;
  /** 0 for success. */
  readonly retcode: number;
  /** The outputter that the minion asks for. */
  readonly out?: string;
}

/** The outcome of a job on its target minions. */
export interface LocalJob {
  /** The job's id; `undefined` if the target matches no minion. */
  readonly jid?: string;
  /** The return of each minion, by its id. */
  readonly returns: Map<string, LocalReturn>;
  /** The minions that did not return. */
  readonly silent: readonly string[];
}

/** The result of a minion in a job that a client is attached to. */
export interface AttachedReturn {
  readonly id: string;
  /** Its return; `undefined` if there is none. */
  readonly returned: Value | undefined;
  readonly outcome: Outcome;
  /** The outputter that the minion asks for. */
  readonly out?: string;
}

/** Options for running a function on minions. */
export interface LocalOptions {
  /** Positional arguments. */
  readonly arg?: readonly Value[];
  readonly kwargs?: ValueMap;
  /**
   * The target type.
   * @default {"glob"}
   */
  readonly tgtType?: string;
  /** Seconds until silent minions are asked whether they still run the job. Default: the option `timeout`. */
  readonly timeoutS?: number;
  /** Seconds for the answer to that. Default: the option `gather_job_timeout`. */
  readonly gatherJobTimeoutS?: number;
}

/** Runs jobs on the master's minions, as `salt` does. */
export interface LocalCommands {
  /**
   * Runs a function on the target minions, and waits for their returns.
   * @returns The returns by minion; minions that did not return are left out. Empty if the target matches no minion.
   * @throws {NoMasterError} If no master is running here.
   * @throws {RefusedError} If this user may not run it.
   */
  run(tgt: Value, fun: string, options?: LocalOptions): Promise<Map<string, LocalReturn>>;
  /**
   * As `run`, with the job's id and the minions that did not answer.
   * @throws As `run`.
   */
  job(tgt: Value, fun: string, options?: LocalOptions): Promise<LocalJob>;
  /**
   * The returns of a job that was published before: first the stored ones, then the others as they arrive.
   * @param onOutput Called with the output of the job's commands, if it is a `--live` job.
   * @throws {TargetError} If there is no such job.
   * @throws {NoMasterError} If no master is running here.
   */
  attach(jid: string, onOutput?: OutputListener): AsyncIterable<AttachedReturn>;
  /**
   * The accepted minions that are connected, sorted, each with its address if that is known; no minion is asked.
   * @throws {NoMasterError} If no master is running here.
   */
  present(): Promise<Map<string, string | undefined>>;
  /** Signs as the operator, who has asked for it (`sign` in `~/.saltrc`); `undefined`: jobs are not signed. */
  readonly signer?: Signs;
  /** The minions that were connected and have disconnected. No minion is asked. */
  gone(): ReadonlySet<string>;
  /**
   * The outcome of a job on each of `ids`: one word, and the time of the last event about it (ms since the epoch).
   * Minions that do not acknowledge jobs are asked whether they run it.
   * @param returns The job's returns, if they have been read already.
   */
  outcomes(
    jid: string,
    ids: readonly string[],
    returns?: ReadonlyMap<string, JobReturn>,
  ): Promise<Map<string, JobOutcome>>;
}

/** A function of an execution module that is run on the master's host. */
export interface ExecutionCall {
  /** The function: `test.ping`. */
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
  /** Whether the function sees the pillar of the master's host. Default: no. */
  readonly withPillar?: boolean;
  /** The id that its job has. Default: one of its own. */
  readonly jid?: string;
  /** Called with what people are told besides the errors that its result lists, a text for each. */
  setErrorDetails?(details: readonly string[]): void;
}

/** The pillar functions for runners. */
export interface RunnerPillar {
  /** The pillar of a request. */
  compile(request: PillarRequest): Promise<ValueMap>;
  /** The merged top files, by environment and target, and their errors. */
  top(request: PillarRequest): Promise<{ readonly top: ValueMap; readonly errors: readonly string[] }>;
}

/** The files of the reactor for runners. */
export interface RunnerReactor {
  /**
   * What files would do about an event: `rendered` (`path`, `data` of each), `reactions`, `mistakes` (a text each).
   * @param files As the reactor's map names them.
   */
  render(tag: string, data: ValueMap, files: readonly string[]): Promise<ValueMap>;
}

/** The context of a function of a runner or a wheel module. */
export interface RunnerContext {
  readonly opts: MasterOpts;
  /** The master's jobs. */
  readonly jobs: JobStore;
  readonly keys: KeyStore;
  /** The master's data about its minions. */
  readonly data: DataCache;
  /** The minions themselves. */
  readonly local: LocalCommands;
  /** All runners. */
  readonly catalogue: Family<RunnerContext>;
  /** All wheel modules. */
  readonly wheel: Family<RunnerContext>;
  /** The id of the job that the runner runs as. */
  readonly jid: string;
  /** The user that started it. */
  readonly user: string;
  /** Aborted when the runner is to end. */
  readonly signal: AbortSignal;
  /** Whether the result goes to a terminal, in a form for people. */
  readonly forTerminal?: boolean;
  /** Changes the minions' keys, as `salt-key` does. */
  readonly manager: KeyManager;
  /** Asks the master for a new AES key, after keys were deleted or rejected; not if `rotate_aes_key` is off. */
  rotateKey(): void;
  /**
   * Stamps an event and fires it on the master's bus.
   * @returns Whether it arrived: no if no master is running.
   */
  fire(tag: string, data: EventData): Promise<boolean>;
  /**
   * Runs a function of an execution module in this process, with the grains of this host.
   * @throws What it throws.
   */
  execute(call: ExecutionCall): Promise<Value>;
  /** Pillar, compiled in this process. */
  readonly pillar: RunnerPillar;
  /** The reactor's files, rendered in this process. */
  readonly reactor: RunnerReactor;
  /** Fires the event `salt/run/<jid>/progress`, and shows it. */
  progress(data: ValueMap): Promise<void>;
  /**
   * Writes a line in addition to the result: to standard output, or to standard error if a program reads the result.
   * @param how.isAskedFor The line is what the function is called for: to standard output, whatever reads the result.
   * @returns False if the reader of the output is gone.
   */
  print(line: string, how?: { readonly isAskedFor?: boolean }): boolean;
  /** Sets the exit code; the job counts as failed unless it is 0. */
  setRetcode(retcode: number): void;
  /**
   * Sets what people are told besides the errors that the result lists for a minion.
   * @param name The minion, or the name of this host, in the result.
   */
  setErrorDetails?(name: string, details: readonly string[]): void;
  /** Writes to the log. */
  log(level: "error" | "mistake" | "warning" | "info" | "debug", message: string): void;
}

export type RunnerFunction = ModuleFunction<RunnerContext>;

/** Declares a function of a runner, or of a wheel module. */
export function runner<P extends Parameters>(declaration: Declaration<P, RunnerContext>): RunnerFunction {
  return declare(declaration);
}

/**
 * The documentation of a wheel module's function: `text`, then how it is called.
 * @param examples What follows `salt-run salt.wheel` on a command line: `key.list_all`.
 */
export function wheelDoc(text: string, ...examples: readonly string[]): string {
  return runnerDoc(text, ...examples.map((example) => `salt.wheel ${example}`));
}

/**
 * The documentation of a runner's function: `text`, then how it is called.
 * @param examples What follows `salt-run` on a command line: `jobs.list_jobs`.
 */
export function runnerDoc(text: string, ...examples: readonly string[]): string {
  return `${text}\n\nCLI Example:\n\n${examples.map((example) => `    salt-run ${example}`).join("\n")}`;
}
