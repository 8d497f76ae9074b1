/**
 * The modules of `salt-call`: built-in ones run in its own process, custom ones in separate processes, with the same
 * permissions as in a minion. Processes are started only when needed.
 * @module
 */

import { withCustomModules } from "#lib/minion/catalogue/custom_catalogue.ts";
import { CustomModules } from "#lib/minion/catalogue/custom_modules.ts";
import { CommandError, CommandNotFoundError, InvocationError, UnavailableError } from "#lib/errors.ts";
import type { ExecutionResult } from "#lib/plugins/execution.ts";
import type { Catalogue, CommandWatch, JobContext } from "#lib/plugins/job_context.ts";
import type { JobPool } from "#lib/minion/worker/job_pool.ts";
import { type MinionRequest, pack, unpackValue } from "#lib/minion/worker/job_protocol.ts";
import { pythonPlugins } from "#lib/minion/catalogue/python_plugins.ts";
import { withPythonPlugins } from "#lib/python_bridge/loader/python_catalogue.ts";
import { PythonJob } from "#lib/python_bridge/loader/python_job.ts";
import { MINION_ANSWERS } from "#lib/python_bridge/loader/questions.ts";
import type { PythonZygote } from "#lib/python_bridge/zygote/zygote.ts";
import { loadCatalogue, pluginLimits } from "#lib/minion/catalogue/catalogue.ts";
import { type Logger, SILENT_LOGGER } from "#lib/runtime/log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { unpackPillarQuery } from "#lib/minion/worker/pillar_query.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { isMap, map, str, toNumber, toValue, type Value, type ValueMap } from "#lib/values/value.ts";

/** Options of {@linkcode CallModules}. */
export interface CallModulesOptions {
  readonly opts: MinionOpts;
  /** The minion's grains, which say which modules serve; without them all do. */
  readonly grains?: ValueMap;
  readonly log: Logger;
  /** Called with each line that a plugin in Python prints. Default: it goes to the log. */
  readonly printed?: (line: string) => void;
}

/** The context of custom functions. */
export type CustomCall = Pick<JobContext, "grains" | "pillar" | "jobs" | "outside" | "signal" | "watchCommand">;

/** All execution modules of one `salt-call`. */
export class CallModules implements AsyncDisposable {
  /** All functions, built-in and custom. */
  readonly catalogue: Catalogue;
  /** Those that are not in Python, for the compiler of this host's pillar, which adds its own plugins in Python. */
  readonly withoutPython: Catalogue;
  readonly #options: CallModulesOptions;
  readonly #custom: CustomModules;
  readonly #python: PythonJob<JobContext>;
  #context: CustomCall | undefined;
  #jobContext: JobContext | undefined;
  #pool: JobPool | undefined;
  #zygote: Promise<PythonZygote> | undefined;

  constructor(options: CallModulesOptions) {
    this.#options = options;
    const { opts, log } = options;
    const grains = options.grains && (() => options.grains ?? new Map());
    this.#custom = new CustomModules(opts, grains);
    const { names, refusals } = this.#custom;
    const python = pythonPlugins(opts, log.warning);
    const limits = pluginLimits(opts);
    const builtin = loadCatalogue({
      replaced: Object.keys(python.files.modules ?? {}),
      ...limits,
      disableModules: [...limits.disableModules, ...names, ...refusals.keys()],
      grains,
      providers: opts.providers,
      warn: log.warning,
    });
    this.#python = new PythonJob({
      ...MINION_ANSWERS,
      plugins: python,
      log,
      socket: async () => await (await this.#openZygote()).socket(),
      context: () => this.#job(),
      isHidden: () => log === SILENT_LOGGER,
    });
    const withPython = withPythonPlugins(builtin, {
      plugins: python,
      job: this.#python,
      call: (fun) => Promise.reject(new UnavailableError(fun)),
      warn: log.warning,
    });
    const custom: Parameters<typeof withCustomModules>[1] = {
      names: new Set(names),
      refusals,
      describe: async () => await (await this.#open()).describeCustom(),
      call: async (fun, args, kwargs) => await (await this.#open()).call(map({ fun }), pack({ args, kwargs })),
    };
    this.catalogue = withCustomModules(withPython, custom);
    this.withoutPython = withCustomModules(builtin, custom);
  }

  /** Whether `fun` belongs to a custom module. */
  isCustom(fun: string): boolean {
    return this.#custom.concerns([fun]);
  }

  /** Sets the context for custom functions from now on. */
  enter(context: CustomCall): void {
    this.#context = context;
    context.signal.addEventListener("abort", () => void this.#pool?.close(), { once: true });
  }

  /** Sets the context of the job that runs now, for plugins in Python. */
  begin(context: JobContext): void {
    this.#jobContext = context;
  }

  #job(): JobContext {
    if (this.#jobContext === undefined) throw new CommandError("plugins in Python run only within a function");
    return this.#jobContext;
  }

  #openZygote(): Promise<PythonZygote> {
    const { opts, printed = this.#options.log.info } = this.#options;
    return this.#zygote ??= import("#lib/python_bridge/zygote/zygote.ts").then(({ PythonZygote }) =>
      new PythonZygote(opts, printed)
    );
  }

  /**
   * Runs a function of a custom module.
   * @param load With `fun` and `arg`.
   */
  async run(load: ValueMap): Promise<ExecutionResult> {
    const watches = new Map<number, CommandWatch | undefined>();
    const outcome = await (await this.#open()).run(load, ({ command, stream, bytes, encoding }) => {
      if (!watches.has(command)) watches.set(command, this.#context?.watchCommand?.(encoding));
      watches.get(command)?.(stream, bytes);
    });
    const out = outcome.get("out");
    return {
      return: outcome.get("return") ?? null,
      retcode: toNumber(outcome.get("retcode")) ?? 1,
      success: outcome.get("success") === true,
      ...typeof out === "string" && { out },
      error: thrownError(outcome),
    };
  }

  async #open(): Promise<JobPool> {
    // Most calls are of built-in functions.
    const { JobPool } = await import("#lib/minion/worker/job_pool.ts");
    return this.#pool ??= new JobPool({
      opts: packOpts("minion", this.#options.opts),
      hostData: { grains: pack(this.#context?.grains ?? new Map()), pillar: pack(this.#context?.pillar ?? new Map()) },
      log: this.#options.log,
      customOnly: true,
      answer: (request) => this.#answer(request),
    });
  }

  async #answer(request: MinionRequest): Promise<Value> {
    const context = this.#context;
    if (context === undefined) throw new Error("nothing is run yet");
    const asMap = (packed: Uint8Array): ValueMap => {
      const value = unpackValue(packed);
      return isMap(value) ? value : map({ data: value });
    };
    switch (request.what) {
      case "request":
        return await context.outside.request(asMap(request.load));
      case "fire":
        return await context.outside.fire(asMap(request.data), request.tag);
      case "refresh":
        return await context.outside.refresh(request.refresh);
      case "pillar":
        return await context.outside.pillar(unpackPillarQuery(request.query));
      case "grains":
        return await context.outside.grains();
      case "running":
        return toValue(await context.jobs.running());
      case "signal":
        return await context.jobs.signal(request.jid, request.signal);
      default:
        throw new Error(`nobody answers ${request.what}`);
    }
  }

  /** Ends running processes. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([
      this.#pool?.close(),
      this.#python.end().then(async () => await (await this.#zygote)?.close()),
    ]);
  }
}

/** The error that a function threw in its process, of a class that `salt-call` has a text for. */
function thrownError(outcome: ValueMap): Error | undefined {
  const thrown = outcome.get("error");
  if (!isMap(thrown)) return undefined;
  const message = str(thrown.get("message") ?? "");
  const usage = thrown.get("usage");
  switch (thrown.get("name")) {
    case "CommandError":
      return new CommandError(message);
    case "CommandNotFoundError":
      return new CommandNotFoundError(message);
    case "InvocationError":
      return new InvocationError(message, typeof usage === "string" ? usage : undefined);
    case "UnavailableError":
      return new UnavailableError(str(outcome.get("return") ?? ""));
    default:
      return new Error(message);
  }
}
