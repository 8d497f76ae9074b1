/**
 * The thread that runs jobs of built-in modules, one after the other, so that a job that hangs can be ended without
 * ending the minion. It loads no custom module (see custom_modules.ts).
 * @module
 */

import { ChildPids } from "./child_pids.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { withCustomModules } from "#lib/minion/catalogue/custom_catalogue.ts";
import { parseToJob } from "./job_messages.ts";
import { type JobWorkerInit, pack } from "./job_protocol.ts";
import { JobRunner, type RunnerParts } from "./job_runner.ts";
import { moduleOf } from "#lib/minion/catalogue/custom_modules.ts";
import { loadCatalogue, pluginLimits } from "#lib/minion/catalogue/catalogue.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { Catalogue, JobContext } from "#lib/plugins/job_context.ts";
import { joinPermissions, permissionKey } from "#lib/plugins/permissions.ts";
import { isNoLog } from "#lib/protocol/no_log.ts";
import { PythonJob } from "#lib/python_bridge/loader/python_job.ts";
import { MINION_ANSWERS } from "#lib/python_bridge/loader/questions.ts";
import { withPythonPlugins } from "#lib/python_bridge/loader/python_catalogue.ts";
import { keeperRunner } from "#lib/minion/keeper/keeper_runner.ts";
import type { DetachedCommand } from "#lib/programs/detached_commands.ts";
import { heedStopWord } from "#lib/values/stop_word.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { fieldsOf } from "#lib/runtime/message_fields.ts";
import { serveThread, type ThreadHost } from "#lib/runtime/thread.ts";

function openRunner(init: JobWorkerInit, host: ThreadHost): JobRunner {
  heedStopWord(init.stop);
  const opts = unpackOpts("minion", init.opts);
  const children = new ChildPids(init.children);
  const python = init.permissions !== "all" ? undefined : pythonJob(init, host, () => runner);
  const keeper = new KeeperAddress(() => runner.ask({ what: "keeper" }));
  const runner: JobRunner = new JobRunner({
    opts,
    hostData: init.hostData,
    catalogue: workerCatalogue({ init, opts, python, warn: host.log.warning, runner: () => runner }),
    log: host.log,
    post: (message) => host.post(message),
    begin: () => {},
    // Not when it begins: its process in Python is started before, to find its function.
    end: () => {
      children.clear();
      void python?.end();
    },
    // With fewer permissions it may not connect to the keeper.
    ...init.permissions === "all" && {
      runChild: (load: ValueMap, detached: readonly DetachedCommand[]) =>
        keeperRunner({
          jid: str(load.get("jid") ?? ""),
          hidden: isNoLog(load),
          cachedir: opts.cachedir,
          detached,
          connect: () => keeper.connect(),
          count: (change) => children.countKeeperCommands(change),
        }),
    },
    child: (pid, state) => children[state === "started" ? "add" : "delete"](pid),
    admit: admission(init, host),
  });
  return runner;
}

/** The process in Python of the jobs, which is started when one needs it. */
function pythonJob(init: JobWorkerInit, { log }: ThreadHost, runner: () => JobRunner): PythonJob<JobContext> {
  return new PythonJob({
    ...MINION_ANSWERS,
    plugins: init.python,
    log,
    socket: async () => {
      try {
        return str(await runner().ask({ what: "python" }));
      } catch (error) {
        throw new CommandError(messageOf(error), { cause: error });
      }
    },
    context: () => runner().context,
    isHidden: () => isNoLog(new Map(Object.entries(runner().context.job))),
  });
}

/** What the catalogue of a worker is made of. */
interface CatalogueParts {
  readonly init: JobWorkerInit;
  readonly opts: MinionOpts;
  readonly python: PythonJob<JobContext> | undefined;
  readonly warn: (text: string) => void;
  readonly runner: () => JobRunner;
}

/** Built-in functions, those in Python, and custom ones, which run elsewhere. */
function workerCatalogue({ init, opts, python, warn, runner }: CatalogueParts): Catalogue {
  const call = (fun: string, args: readonly Value[], kwargs: ValueMap) =>
    runner().ask({ what: "call", fun, call: pack({ args, kwargs }) });
  const limits = pluginLimits(opts);
  const builtIn = loadCatalogue({
    replaced: Object.keys(init.python.files.modules ?? {}),
    ...limits,
    disableModules: [...limits.disableModules, ...init.customModules, ...Object.keys(init.refusedModules)],
    grains: () => runner().grains,
    providers: opts.providers,
    warn,
  });
  return withCustomModules(withPythonPlugins(builtIn, { plugins: init.python, job: python, call, warn }), {
    names: new Set(init.customModules),
    refusals: new Map(Object.entries(init.refusedModules)),
    describe: () => runner().ask({ what: "describe" }),
    call,
  });
}

/** Tells which jobs this worker refuses, because another one has the permissions that they want. */
function admission(init: JobWorkerInit, host: ThreadHost): RunnerParts["admit"] {
  const own = permissionKey(init.permissions);
  const loader = host.log.named("salt.loader");
  const custom = new Set(init.customModules);
  return (functions) => {
    for (const [name, functionOfName] of functions) {
      const wants = () => `with the permissions ${permissionKey(functionOfName?.permissions ?? "none")}`;
      loader.debug(() => functionOfName === undefined ? `No module has ${name}` : `LazyLoaded ${name}, ${wants()}`);
    }
    const loaded = [...functions.values()].filter((fun) => fun !== undefined);
    const permissions = joinPermissions(loaded.map((fun) => fun.permissions ?? "none"));
    // A worker without permissions cannot see that a program is missing. The one that it sends the job to can, and
    // then has a function less: it refuses that function itself, since the first one would send the job back.
    const isRefusal = init.permissions !== "none" && loaded.length < functions.size;
    const here = (isRefusal || permissionKey(permissions) === own) &&
      ![...functions.keys()].some((name) => custom.has(moduleOf(name)));
    return here ? undefined : { kind: "not_permitted", permissions };
  };
}

/** The address of the keeper of commands. It changes when the keeper is started again after a long idle time. */
class KeeperAddress {
  readonly #ask: () => Promise<Value>;
  #path: Promise<Value> | undefined;

  constructor(ask: () => Promise<Value>) {
    this.#ask = ask;
  }

  /** A connection to it; `undefined` if there is no keeper. */
  async connect(): Promise<Deno.UnixConn | undefined> {
    for (let again = this.#path !== undefined;; again = false) {
      const path = await (this.#path ??= this.#ask());
      if (typeof path !== "string") {
        this.#path = undefined;
        return undefined;
      }
      try {
        return await Deno.connect({ transport: "unix", path });
      } catch (error) {
        this.#path = undefined;
        if (!again) throw new Error(`The keeper of commands does not listen at ${path}`, { cause: error });
      }
    }
  }
}

serveThread<JobWorkerInit>((init, host) => {
  const runner = openRunner(init, host);
  return Promise.resolve({
    describe: () => runner.describe(),
    onMessage: (message) => runner.receive(parseToJob(fieldsOf(message))),
    close: () => Promise.resolve(),
  });
});
