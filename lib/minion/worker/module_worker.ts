/**
 * The worker in which a custom module runs, in a separate process: with the permissions that the module's file
 * declares, connected to the minion by the process's pipe (module_pump.ts). If the module changes globals, only this
 * process is affected. The minion trusts its messages only for this process's own job (module_messages.ts).
 * @module
 */

import { describeFunctions } from "#lib/minion/catalogue/custom_catalogue.ts";
import { runGrains } from "#lib/minion/catalogue/grains_functions.ts";
import type { Catalogue } from "#lib/plugins/job_context.ts";
import type { FromModule, ModuleProcessInit, ToModule } from "./job_protocol.ts";
import { pack } from "./job_protocol.ts";
import { type JobFunctions, JobRunner } from "./job_runner.ts";
import {
  type CatalogueOptions,
  loadCatalogue,
  pluginLimits,
  RENDERERS_PREFIX,
  STATES_PREFIX,
} from "#lib/minion/catalogue/catalogue.ts";
import { calledRenderer } from "#lib/render/own_renderer.ts";
import { calledState } from "#lib/minion/catalogue/custom_states.ts";
import { postingLogger } from "#lib/runtime/log.ts";
import { postBytes, workerScope } from "#lib/runtime/worker_scope.ts";
import { packMessage, parseToModule } from "./module_messages.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { permissionKey } from "#lib/plugins/permissions.ts";
import { setTimeout } from "#lib/os/timers.ts";

const send = (message: FromModule) => postBytes(packMessage(message));

/** The functions whose own declaration differs from that in the text of their file. */
function undeclaredFunctions(functions: JobFunctions, declared: Readonly<Record<string, string>>): string | undefined {
  for (const [name, fun] of functions) {
    if (fun === undefined || !Object.hasOwn(declared, name)) continue;
    const actual = permissionKey(fun.permissions ?? "none");
    if (actual === declared[name]) continue;
    return `The function ${name} has the permissions ${actual} when it runs, and ${
      declared[name]
    } in the text of its file, which ` +
      "is what counts: write them there as a literal, and refresh the modules if the file was changed";
  }
}

/**
 * The functions of this process: the built-in ones, those of its own modules (state functions by
 * `states/app.installed`, renderers by `renderers/x.render`), and those of other modules if they are called by name:
 * the caller trusts them. Listing names does not load other modules.
 */
function processCatalogue(options: CatalogueOptions, modules: readonly string[]): Catalogue {
  const own = loadCatalogue({ ...options, custom: modules });
  const others = loadCatalogue({ ...options, disableModules: [...options.disableModules ?? [], ...modules] });
  return {
    states: own.states,
    builtInRenderers: own.builtInRenderers,
    fileBackends: own.fileBackends,
    get: async (name) =>
      name.startsWith(STATES_PREFIX)
        ? await calledState(name, own.states)
        : name.startsWith(RENDERERS_PREFIX)
        ? calledRenderer(await own.renderers?.get(name.slice(RENDERERS_PREFIX.length)))
        : await own.get(name) ?? await others.get(name),
    all: () => own.all(),
    serves: async (module) => await own.serves(module) || await others.serves(module),
    problems: () => new Map([...others.problems(), ...own.problems()]),
    refusals: () => new Map([...others.refusals(), ...own.refusals()]),
    providers: () => own.providers(),
  };
}

function start(
  { opts: packed, hostData, logLevel, logFailures, modules, renamed }: ModuleProcessInit,
): (message: ToModule) => void {
  const opts = unpackOpts("minion", packed);
  const { extension_modules, module_dirs } = opts;
  const log = postingLogger(({ level, message }) => send({ kind: "log", level, message }), logLevel);
  let runner: JobRunner | undefined;
  const custom = {
    extensionModules: extension_modules,
    moduleDirs: module_dirs,
    ...pluginLimits(opts),
    renamed,
    grains: () => runner?.grains ?? new Map(),
    providers: opts.providers,
    warn: log.warning,
  };
  // Created for the first job: a run of grains may not read the modules' directories.
  const makeRunner = () =>
    new JobRunner({
      opts,
      hostData,
      catalogue: processCatalogue(custom, modules),
      log,
      sendErrors: true,
      logFailures,
      post: (message) => message.kind === "after_large_outcome" || message.kind === "not_permitted" || send(message),
      begin: () => send({ kind: "begun" }),
      child: (pid, state) => send({ kind: "child", pid, state }),
      admit(functions, { declared = {} }) {
        const text = undeclaredFunctions(functions, declared);
        if (text === undefined) return undefined;
        return { kind: "done", outcome: pack({ return: text, retcode: 1, success: false, out: "nested" }) };
      },
    });
  return (message) => {
    switch (message.kind) {
      case "start":
        return;
      case "describe":
        return void describeFunctions(loadCatalogue({ ...custom, builtin: false })).then(done);
      case "grains":
        return void runGrains(message).then(done);
      default:
        return (runner ??= makeRunner()).receive(message);
    }
  };
}

const done = (outcome: unknown) => send({ kind: "done", outcome: pack(outcome) });

/** Reports the end of this worker, for instance by `close()`; otherwise the job would seem to run forever. */
function failOnExit(): void {
  const end = (what: string) => (code: unknown = 0) => {
    const text = `the job called ${what}(${typeof code === "number" ? code : ""})`;
    // Thrown outside the caller: an unhandled error of the worker ends the process.
    setTimeout(() => {
      throw new Error(text);
    });
    throw new Error(text);
  };
  Object.assign(Deno, { exit: end("Deno.exit") });
  Object.assign(workerScope, { close: end("close") });
}

failOnExit();
// The cache would write to the disk, without the permission to write.
delete workerScope.caches;
let receive: ((message: ToModule) => void) | undefined;
workerScope.onmessage = ({ data }) => {
  const message = parseToModule(data);
  if (message.kind === "start") receive = start(message.init);
  else receive?.(message);
};
send({ kind: "ready" });
