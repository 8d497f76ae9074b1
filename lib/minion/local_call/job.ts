/**
 * Runs one function for `salt-call`: a built-in one in this process; failures have `salt-call`'s texts. Prints nothing.
 * Source: Salt's `salt/cli/caller.py`.
 * @module
 */

import { CommandError, CommandNotFoundError, InvocationError, PluginError, UnavailableError } from "#lib/errors.ts";
import { callFunction, execute, type ExecutionResult } from "#lib/plugins/execution.ts";
import { asDocstring } from "#lib/plugins/docs.ts";
import type { JobContext, Outside } from "#lib/plugins/job_context.ts";
import { makeContext } from "#lib/plugins/job_scope.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { CallModules } from "./modules.ts";
import { fireOnMinion, refreshMinion } from "./refreshing.ts";
import { notedJobs } from "./proc_jobs.ts";
import { leaveNote, SALT_CALL_TARGET } from "#lib/jobs/proc_notes.ts";
import { loadCoreGrains } from "#lib/minion/catalogue/catalogue.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { executorsOf } from "#lib/plugins/executors.ts";
import type { CallMaster } from "./call_master.ts";

/** The function to run. */
export interface LocalCall {
  /** The function: `test.ping`. */
  readonly fun: string;
  /** Arguments as in a job's load. */
  readonly arg: readonly Value[];
  /** Its job id, which the master does not know. */
  readonly jid: string;
  /** `--set-metadata` */
  readonly metadata: Value | undefined;
  /** Names of plugins that call the function, from the command line. */
  readonly moduleExecutors?: Value;
  /** A value for those plugins. */
  readonly executorOpts?: Value;
}

/** The parts that a run needs. */
export interface CallHost {
  readonly opts: MinionOpts;
  readonly grains: ValueMap;
  readonly modules: CallModules;
  /** The master, or {@linkcode WITHOUT_MASTER}. */
  readonly master: CallMaster;
  readonly log: Logger;
  /** Aborted by the user: children are ended. */
  readonly signal: AbortSignal;
  /** Shows the output of commands as they run. */
  readonly watchCommand?: JobContext["watchCommand"];
  /** Shows states as they are done. */
  readonly watchState?: JobContext["watchState"];
  /** {@linkcode JobContext.setErrorDetails} of a function that is called directly. */
  readonly setErrorDetails?: JobContext["setErrorDetails"];
  /** Whether functions of pillar show secrets: {@linkcode JobContext.showsPillar}. */
  readonly showsPillar?: boolean;
}

/** Runs it. A thrown error becomes the outcome. */
export async function runCall(call: LocalCall, host: CallHost): Promise<ExecutionResult> {
  const { fun, arg } = call;
  return await within(call, host, async (context, job) => {
    if (host.modules.isCustom(fun)) {
      const load = new Map(job).set("arg", [...arg]);
      if (host.watchCommand !== undefined) load.set("live", true);
      return await host.modules.run(load);
    }
    const functionOfName = await host.modules.catalogue.get(fun);
    host.log.named("salt.loader").debug(functionOfName === undefined ? `No module has ${fun}` : `LazyLoaded ${fun}`);
    const load = new Map(job).set("arg", [...arg]);
    if (call.moduleExecutors !== undefined) load.set("module_executors", call.moduleExecutors);
    if (call.executorOpts !== undefined) load.set("executor_opts", call.executorOpts);
    const outcome = await execute(fun, arg, context, () => executorsOf(load, host.opts.module_executors));
    host.log.named("salt.minion").debug(`${fun} ended with return code ${outcome.retcode}`);
    return outcome;
  });
}

/**
 * Calls a function as another function would: arguments are not parsed, and no fields of a job are added.
 * @throws {UnavailableError} If there is no such function; else what it throws.
 */
export async function callDirectly(
  { fun, args, kwargs, jid, user }: {
    readonly fun: string;
    readonly args: readonly Value[];
    readonly kwargs: ValueMap;
    readonly jid: string;
    readonly user: string;
  },
  host: CallHost,
): Promise<Value> {
  const call = { fun, jid, metadata: undefined, user };
  const { setErrorDetails } = host;
  return await within(
    call,
    host,
    (context) => callFunction(fun, { args, kwargs, context: { ...context, setErrorDetails } }),
  );
}

/** Runs `run` as a job of this process, which is noted while it runs. */
async function within<T>(
  { fun, jid, metadata, user }: Omit<LocalCall, "arg"> & { readonly user?: string },
  host: CallHost,
  run: (context: JobContext, job: ValueMap) => Promise<T>,
): Promise<T> {
  const { opts, master } = host;
  const job = map({ fun, pid: Deno.pid, jid, tgt: SALT_CALL_TARGET });
  if (metadata !== undefined) job.set("metadata", metadata);
  if (user !== undefined) job.set("user", user);
  const forget = leaveNote(opts.cachedir, job);
  try {
    const shared = {
      grains: host.grains,
      pillar: master.pillar,
      jobs: {
        running: () => Promise.resolve(notedJobs(opts.cachedir)),
        signal: (id: string, n: number) => signalJob(opts, id, n),
      },
      outside: outsideOf(host),
      signal: host.signal,
      watchCommand: host.watchCommand,
      watchState: host.watchState,
    };
    host.modules.enter(shared);
    const context = makeContext({
      ...shared,
      opts,
      job,
      catalogue: host.modules.catalogue,
      log: host.log,
      child: () => {},
      showsPillar: host.showsPillar,
    });
    host.modules.begin(context);
    return await run(context, job);
  } finally {
    forget();
  }
}

/** Only jobs that are processes can be signalled from here; a minion's jobs are its threads. */
function signalJob(opts: MinionOpts, jid: string, signal: number): Promise<boolean> {
  const job = notedJobs(opts.cachedir).find((noted) => noted.jid === jid);
  if (job === undefined) return Promise.resolve(false);
  if (job.tgt !== SALT_CALL_TARGET) {
    throw new CommandError(
      `Job ${jid} is the running minion's: end it from the master, salt ${opts.id} saltutil.kill_job`,
    );
  }
  return import("#lib/libc/libc.ts").then(({ sendSignal }) => job.pid !== null && sendSignal(job.pid, signal));
}

/** Access to the outside: the master, and the bus of this host's minion if it is running. */
function outsideOf({ opts, master, log }: CallHost): Outside {
  return {
    request: (load) => master.request(load),
    pillar: (query) => master.freshPillar(query),
    grains: async () => {
      const { loadGrains } = await import("#lib/minion/agent/grains.ts");
      return await loadGrains(opts, { core: await loadCoreGrains() });
    },
    fire: (data, tag) => fireOnMinion(opts, tag, data),
    ask: async (question) => {
      const [{ askOnBus }, { minionBus }] = await Promise.all([
        import("#lib/bus/ask.ts"),
        import("#lib/bus/paths.ts"),
      ]);
      return await askOnBus(minionBus(opts), question);
    },
    refresh: (what, { waitS = 0 } = {}) => refreshMinion(opts, what, { waitS, log }),
  };
}

/** A failure as the user sees it: texts for both outputs, and the exit code. */
export interface CallFailure {
  /** For standard output. */
  readonly out: string;
  /** For standard error. */
  readonly err: string;
  readonly exitCode: number;
}

/** The failure of an outcome; `undefined` for one that is shown like a result. */
export function callFailure(fun: string, { error, return: returned }: ExecutionResult): CallFailure | undefined {
  if (error === undefined) return undefined;
  const failure = (err: string, exitCode = 1, out = ""): CallFailure => ({ out, err, exitCode });
  if (error instanceof UnavailableError) {
    // An incomplete name: show the functions that begin with it.
    return isMap(returned) ? undefined : failure(`${str(returned)}\n`, 255);
  }
  if (error instanceof CommandNotFoundError) {
    return failure(`Command required for '${fun}' not found: ${error.message}\n`);
  }
  if (error instanceof CommandError) return failure(`Error running '${fun}': ${error.message}\n`);
  if (error instanceof InvocationError) {
    const { usage = error.docstring, isVerbatim } = error;
    if (usage === undefined) return failure(`${error.message}\n`);
    const shown = isVerbatim || error.usage === undefined ? usage : asDocstring(usage);
    return failure(`\nPassed invalid arguments: ${error.message}.\n\nUsage:\n`, 1, `${shown}\n`);
  }
  if (error instanceof PluginError) return failure(`${error.trace.trimEnd()}\n`);
  return failure(`${str(returned)}\n`);
}
