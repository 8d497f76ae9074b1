/**
 * Calls of a master's plugins in Python that serve one request of a user: systems of `external_auth`, rosters.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { UnavailableError } from "#lib/errors.ts";
import { answerByCalls, type CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import { type PythonLease, SeparateCalls } from "#lib/python_bridge/loader/separate_calls.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import type { PythonJob } from "#lib/python_bridge/loader/python_job.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { masterPlugins } from "./python_plugins.ts";

/** What a request belongs to: nothing but the time of the master. */
interface MasterScope {
  readonly signal: AbortSignal;
}

/** What they need. */
export interface MasterCallsParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly lease: PythonLease;
  /** The execution functions. Absent: they have none. */
  readonly functions?: Pick<CallingHost, "has" | "call">;
}

/** What has no functions. */
const NO_FUNCTIONS: Required<Pick<CallingHost, "has" | "call">> = {
  has: () => Promise.resolve(false),
  call: (fun) => fun === "sys.list_functions" ? Promise.resolve([]) : Promise.reject(new UnavailableError(fun)),
};

/**
 * Calls `fun`, `NAME.FUN`, in a process that is there.
 * @returns What it returned; `undefined` if there is no such function.
 * @throws {Error} What it raises, or why its file does not load.
 */
export type CallInProcess = (
  fun: string,
  kwargs: Readonly<Record<string, Value>>,
  args?: readonly Value[],
) => Promise<Value | undefined>;

/** Calls of plugins of one family. */
export class MasterCalls {
  readonly #family: PythonFamily;
  readonly #calls: SeparateCalls<MasterScope>;
  readonly #names: ReadonlySet<string>;
  readonly #signal: AbortSignal;

  constructor(family: PythonFamily, { opts, log, signal, lease, functions = NO_FUNCTIONS }: MasterCallsParts) {
    this.#family = family;
    this.#signal = signal;
    const plugins = masterPlugins(opts, log.warning);
    this.#names = new Set(plugins.names[family] ?? []);
    const host: CallingHost = {
      opts: () => optsValues(opts).set("__role", "master"),
      grains: () => new Map(),
      pillar: () => new Map(),
      has: functions.has?.bind(functions),
      call: functions.call.bind(functions),
    };
    this.#calls = new SeparateCalls({
      role: "master",
      plugins,
      log,
      context: () => ({ signal }),
      answers: () => (question) => answerByCalls(question, host),
      isHidden: () => true,
    }, lease);
  }

  /** Whether a file may be the plugin of this name. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Calls functions of plugins in one process, which ends afterwards. */
  async together<T>(run: (call: CallInProcess) => Promise<T>): Promise<T> {
    return await this.#calls.together((job) => run((fun, kwargs, args = []) => this.#call(job, fun, { kwargs, args })));
  }

  /** One call in a process of its own, as {@linkcode CallInProcess}. */
  async call(...given: Parameters<CallInProcess>): Promise<Value | undefined> {
    return await this.together((call) => call(...given));
  }

  async #call(
    job: Pick<PythonJob<MasterScope>, "request">,
    fun: string,
    { kwargs, args }: { readonly kwargs: Readonly<Record<string, Value>>; readonly args: readonly Value[] },
  ): Promise<Value | undefined> {
    const call = { kind: "call", family: this.#family, fun, args, kwargs: map(kwargs), test: false } as const;
    try {
      return (await job.request(call, { signal: this.#signal })).value;
    } catch (error) {
      if (!(error instanceof MissingPlugin)) throw error;
      if (error.reason === null) return undefined;
      throw new Error(`'${fun}' does not load${error.reason === "" ? "" : `: ${error.reason}`}`, { cause: error });
    }
  }
}
