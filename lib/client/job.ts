/**
 * The types of a job on the client's side: the request, the published job, its returns and silent minions, time limits.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import type { Outcome, ReturnOutcome } from "#lib/protocol/outcome.ts";
import type { ReturnKey } from "#lib/protocol/return_key.ts";
import type { OutputListener } from "./output_follower.ts";
import type { TraceContext } from "#lib/tracing/trace_context.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** A job to publish. */
export interface JobRequest {
  readonly tgt: Value;
  /** The target's type: `glob`, `pcre`, `list`. */
  readonly tgtType: string;
  /** A function, or the list of a compound job's. */
  readonly fun: Value;
  /** The arguments in the wire format: positionals, then one `__kwarg__` map. */
  readonly arg: Value[];
  /** Returners, comma-separated. */
  readonly ret?: string;
  /** A job id of the caller's own. */
  readonly jid?: string;
  /** Fields for the master and the minions: `delimiter`, `metadata`, … */
  readonly kwargs?: ValueMap;
  /** For a `no_log` job: the key that decrypts the returns. */
  readonly noLog?: ReturnKey;
  /** The span that publishes it. */
  readonly trace?: TraceContext;
}

/** How long a job waits for its turn, if the master's option `flow` bounds the jobs of its user. */
export interface TurnWait {
  /** By `performance.now()`. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
  /** Called before each wait, with a text for the user. */
  onWait(text: string): void;
}

/** A job that has been published. */
export interface PublishedJob {
  readonly jid: string;
  /** The target minions. */
  readonly minions: readonly string[];
  /** Ids of a list target that no accepted key has. */
  readonly missing: readonly string[];
  /** Target minions that have acknowledged the job already. */
  readonly acknowledged?: readonly string[];
  /** As in its {@linkcode JobRequest}. */
  readonly noLog?: ReturnKey;
}

/** The return of one minion. */
export interface Returned {
  /** Discriminates {@linkcode Returned} from {@linkcode Silent}. */
  readonly kind: "returned";
  readonly id: string;
  /** The function's result. */
  readonly return: Value;
  /** 0 for success; a map by function for a compound job. */
  readonly retcode: Value;
  /** The outputter that the minion asks for. */
  readonly out?: string;
  readonly outcome: ReturnOutcome;
  /** What people are told besides the errors that `return` lists: a text for each, empty for none. */
  readonly errorDetails?: readonly string[];
}

/** A minion that did not return. */
export interface Silent {
  /** Discriminates {@linkcode Silent} from {@linkcode Returned}. */
  readonly kind: "silent";
  readonly id: string;
  readonly outcome: Outcome;
}

/** Time limits, in milliseconds. */
export interface CollectTimeouts {
  /** Time before silent minions are asked whether they still run the job. */
  readonly timeoutMs: number;
  /** Time for their answers. */
  readonly gatherMs: number;
}

/** The time limits of a master's options; `override`: other limits of a caller, in seconds. */
export function timeoutsOf(
  opts: Pick<MasterOpts, "timeout" | "gather_job_timeout">,
  { timeoutS = opts.timeout, gatherJobTimeoutS = opts.gather_job_timeout }: {
    readonly timeoutS?: number;
    readonly gatherJobTimeoutS?: number;
  } = {},
): CollectTimeouts {
  return { timeoutMs: timeoutS * 1000, gatherMs: gatherJobTimeoutS * 1000 };
}

/** Options of collecting besides the returns. */
export interface CollectOptions {
  /** Aborted by the operator: collecting ends at once, and the client receives no more events. */
  readonly signal?: AbortSignal;
  /** Called with the output of the job's commands: all output of a minion before its return. */
  readonly onOutput?: OutputListener;
  /** Called at the time-out with the minions that are not connected, while others are waited for. */
  readonly onAbsent?: (ids: readonly string[]) => void;
  /** Called when minions of the job must wait for their turn, by the rule of `flow` at this place, from 1. */
  readonly onTurn?: (ids: readonly string[], rule: number) => void;
  /** Called when a state of the job is done, on minions that report it (`state_events`, `--live`). */
  readonly onState?: (id: string, done: StateDone) => void;
}

/** A finished state of a running state run. */
export interface StateDone {
  /** Its result, as the return of the run will have it. */
  readonly ret: ValueMap;
  /** Number of states of the run. */
  readonly len: number;
}
