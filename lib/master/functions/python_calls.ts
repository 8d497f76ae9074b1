/**
 * Single calls of a master's plugins in Python, a process each: systems of `external_auth`, rosters.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { UnavailableError } from "#lib/errors.ts";
import { answerByCalls, type CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import { type PythonLease, SeparateCalls } from "#lib/python_bridge/loader/separate_calls.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type Value } from "#lib/values/value.ts";
import { masterPlugins } from "./python_plugins.ts";

/** What they need. */
export interface MasterCallsParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly lease: PythonLease;
  /** Calls an execution function. Absent: they have none. */
  readonly call?: CallingHost["call"];
}

function nobody(fun: string): Promise<Value> {
  // Whether there is a function is asked of the list of functions.
  return fun === "sys.list_functions" ? Promise.resolve([]) : Promise.reject(new UnavailableError(fun));
}

/** Calls of plugins of one family. */
export class MasterCalls {
  readonly #family: PythonFamily;
  readonly #calls: SeparateCalls<{ readonly signal: AbortSignal }>;
  readonly #names: ReadonlySet<string>;
  readonly #signal: AbortSignal;

  constructor(family: PythonFamily, { opts, log, signal, lease, call = nobody }: MasterCallsParts) {
    this.#family = family;
    this.#signal = signal;
    const plugins = masterPlugins(opts, log.warning);
    this.#names = new Set(plugins.names[family] ?? []);
    const host: CallingHost = {
      opts: () => optsValues(opts).set("__role", "master"),
      grains: () => new Map(),
      pillar: () => new Map(),
      call,
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

  /**
   * Calls `fun`, `NAME.FUN`.
   * @returns What it returned; `undefined` if there is no such function.
   * @throws {Error} What it raises, or why its file does not load.
   */
  async call(
    fun: string,
    kwargs: Readonly<Record<string, Value>>,
    args: readonly Value[] = [],
  ): Promise<Value | undefined> {
    const call = { kind: "call", family: this.#family, fun, args, kwargs: map(kwargs), test: false } as const;
    try {
      return (await this.#calls.request(call, { signal: this.#signal })).value;
    } catch (error) {
      if (!(error instanceof MissingPlugin)) throw error;
      if (error.reason === null) return undefined;
      throw new Error(`'${fun}' does not load${error.reason === "" ? "" : `: ${error.reason}`}`, { cause: error });
    }
  }
}
