/**
 * One function as `salt-call` runs it: a built-in one in this process, as a job of nobody's but the user's, and its failures in
 * the words of `salt-call`. Prints nothing.
 * Source: Salt's cli/caller.py.
 * @module
 */

import { CommandError, CommandNotFoundError, InvocationError, UnavailableError } from "../errors.ts";
import { execute, type ExecutionResult } from "../plugins/execution.ts";
import { asDocstring } from "../plugins/docs.ts";
import type { JobContext, Outside, Refresh } from "../plugins/job_context.ts";
import { makeContext } from "../plugins/job_scope.ts";
import type { Logger } from "../process/log.ts";
import type { MinionOpts } from "../config/options.ts";
import type { CallModules } from "./salt_call_modules.ts";
import { notedJobs, SALT_CALL_TARGET } from "../minion/proc_jobs.ts";
import { leaveNote } from "../jobs/proc_notes.ts";
import { isMap, map, str, type Value, type ValueMap } from "../values/value.ts";
import type { CallMaster } from "../minion/call_master.ts";

/** What is to be run. */
export interface Call {
  /** The function: `test.ping`. */
  readonly fun: string;
  /** As a job's load has it. */
  readonly arg: readonly Value[];
  /** Its job id, which the master never hears of. */
  readonly jid: string;
  /** `--set-metadata` */
  readonly metadata: Value | undefined;
}

/** What it runs with. */
export interface CallHost {
  /** The minion's options. */
  readonly opts: MinionOpts;
  /** The minion's grains. */
  readonly grains: ValueMap;
  readonly modules: CallModules;
  /** The master, or {@linkcode WITHOUT_MASTER}. */
  readonly master: CallMaster;
  /** Where functions log to. */
  readonly log: Logger;
  /** Aborted when the user wants no more: children are ended. */
  readonly signal: AbortSignal;
  /** Shows what commands write, as they write it. */
  readonly watchCommand?: JobContext["watchCommand"];
}

/** Runs it. Whatever it throws becomes the outcome. */
export async function runCall(call: Call, host: CallHost): Promise<ExecutionResult> {
  const { opts, master } = host;
  const { fun, jid, metadata } = call;
  const job = map({ fun, pid: Deno.pid, jid, tgt: SALT_CALL_TARGET });
  if (metadata !== undefined) job.set("metadata", metadata);
  const forget = leaveNote(opts.cachedir, job);
  try {
    const world = {
      grains: host.grains,
      pillar: master.pillar,
      jobs: {
        running: () => Promise.resolve(notedJobs(opts.cachedir)),
        signal: (id: string, n: number) => signalJob(opts, id, n),
      },
      outside: outsideOf(host),
      signal: host.signal,
      watchCommand: host.watchCommand,
    };
    host.modules.enter(world);
    if (host.modules.isCustom(fun)) return await host.modules.run(new Map(job).set("arg", [...call.arg]));
    const context = makeContext({
      ...world,
      opts,
      job,
      catalogue: host.modules.catalogue,
      log: host.log,
      child: () => {},
    });
    return await execute(fun, call.arg, context);
  } finally {
    forget();
  }
}

/** Only jobs that are processes of their own can be signalled from here: those of a minion are threads of the minion. */
function signalJob(opts: MinionOpts, jid: string, signal: number): Promise<boolean> {
  const job = notedJobs(opts.cachedir).find((noted) => noted.jid === jid);
  if (job === undefined) return Promise.resolve(false);
  if (job.tgt !== SALT_CALL_TARGET) {
    throw new CommandError(
      `Job ${jid} is the running minion's: end it from the master, salt ${opts.id} saltutil.kill_job`,
    );
  }
  return import("../os/libc.ts").then(({ sendSignal }) => sendSignal(job.pid, signal));
}

/** The tags by which a running minion is told to refresh. */
const REFRESH_TAGS: Readonly<Record<Refresh, string>> = {
  modules: "module_refresh",
  grains: "grains_refresh",
  pillar: "pillar_refresh",
};

/** The world outside: the master, and the bus of this host's minion if that is running. */
function outsideOf({ opts, master }: CallHost): Outside {
  const fire = async (data: ValueMap, tag: string): Promise<boolean> => {
    const [{ fireEvent }, { minionBus }] = await Promise.all([import("../bus/fire.ts"), import("../bus/paths.ts")]);
    return await fireEvent(minionBus(opts), tag, data);
  };
  return {
    request: (load) => master.request(load),
    fire,
    refresh: (what) => fire(new Map(), REFRESH_TAGS[what]),
  };
}

/** What a failure is to the user: text for both outputs, and the exit code. */
export interface CallFailure {
  /** For standard output. */
  readonly out: string;
  /** For standard error. */
  readonly err: string;
  /** What `salt-call` exits with. */
  readonly exitCode: number;
}

/** The failure that an outcome is; `undefined` for one that is to be shown like a result. */
export function callFailure(fun: string, { error, return: returned }: ExecutionResult): CallFailure | undefined {
  if (error === undefined) return undefined;
  const failure = (err: string, exitCode = 1, out = ""): CallFailure => ({ out, err, exitCode });
  if (error instanceof UnavailableError) {
    // Half a name: what begins like it is shown.
    return isMap(returned) ? undefined : failure(`${str(returned)}\n`, 255);
  }
  if (error instanceof CommandNotFoundError) {
    return failure(`Command required for '${fun}' not found: ${error.message}\n`);
  }
  if (error instanceof CommandError) return failure(`Error running '${fun}': ${error.message}\n`);
  if (error instanceof InvocationError && error.usage !== undefined) {
    return failure(`\nPassed invalid arguments: ${error.message}.\n\nUsage:\n`, 1, `${asDocstring(error.usage)}\n`);
  }
  if (error instanceof InvocationError) return failure(`${error.message}\n`);
  return failure(`${str(returned)}\n`);
}
