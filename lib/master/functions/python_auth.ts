/**
 * Systems of `external_auth` in Python: `auth(username, password)`, and `groups(username)`, `acl(username)` and
 * `process_acl(auth_list, opts)` if they have them. Those of one sign-in share a process, and with it `__context__`.
 * Source: Salt 3008.3 `salt/auth/__init__.py`.
 * @module
 */

import { authList } from "#lib/auth/auth_list.ts";
import type { EauthContext, EauthModule, LoadEauth } from "#lib/auth/eauth_module.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import type { CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import type { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { isMap, str, truthy, type Value } from "#lib/values/value.ts";
import type { CallInProcess, MasterCalls } from "./python_calls.ts";

/** The systems of `builtin`, and those in Python, which win. Python is started when one is first asked. */
export function withPythonEauth(builtin: LoadEauth): LoadEauth {
  let shared: { readonly lease: PythonLease; readonly functions: MasterFunctions } | undefined;
  return async (name, context) => {
    const { opts, log } = context;
    // Most masters have no `external_auth`: their threads do without the code for Python.
    const { PythonLease } = await import("#lib/python_bridge/loader/separate_calls.ts");
    const { MasterCalls } = await import("./python_calls.ts");
    shared ??= {
      lease: new PythonLease(opts, { printed: log.info, keeps: true }),
      functions: new MasterFunctions(opts),
    };
    const { lease, functions } = shared;
    const calls = new MasterCalls("auth", { opts, log, lease, signal: new AbortController().signal, functions });
    return calls.has(name) ? pythonEauth(name, calls, context) : await builtin(name, context);
  };
}

function pythonEauth(name: string, calls: MasterCalls, { opts, config, log }: EauthContext): EauthModule {
  return {
    authenticate: (credentials) =>
      calls.together(async (call) => {
        const given = { username: credentials.username, password: credentials.password };
        if (!truthy(await call(`${name}.auth`, given) ?? null)) return undefined;
        const asked = new SignedInUser(name, credentials.username, { call, log });
        const groups = (listOf(await asked.told("groups", given)) ?? []).map(str);
        const listed = authList(config, credentials.username, groups);
        const ownRules = rulesOf(await asked.told("acl", given)) ??
          rulesOf(await asked.told("process_acl", {}, [listed, optsValues(opts).set("__role", "master")]));
        return { groups, ownRules };
      }),
    rules: ({ username, password }) =>
      calls.together(async (call) =>
        rulesOf(await new SignedInUser(name, username, { call, log }).told("acl", { username, password }))
      ),
  };
}

/** What a system says of a user whose password was right. */
class SignedInUser {
  readonly #name: string;
  readonly #username: string;
  readonly #parts: { readonly call: CallInProcess; readonly log: EauthContext["log"] };

  constructor(
    name: string,
    username: string,
    parts: { readonly call: CallInProcess; readonly log: EauthContext["log"] },
  ) {
    this.#name = name;
    this.#username = username;
    this.#parts = parts;
  }

  /** What a function returns; as in Salt, nothing if it fails. */
  async told(
    fun: string,
    kwargs: Readonly<Record<string, Value>>,
    args: readonly Value[] = [],
  ): Promise<Value | undefined> {
    const { call, log } = this.#parts;
    try {
      return await call(`${this.#name}.${fun}`, kwargs, args) ?? undefined;
    } catch (error) {
      log.error(`${this.#name}.${fun} of ${truncateRepr(this.#username)} failed: ${messageOf(error)}`);
      return undefined;
    }
  }
}

/** The items of a list, the keys of a map, a text alone; `undefined` for anything else. */
function listOf(value: Value | undefined): readonly Value[] | undefined {
  if (Array.isArray(value)) return value;
  if (value !== undefined && isMap(value)) return [...value.keys()];
  return typeof value === "string" ? [value] : undefined;
}

/** Rules; a value that has none allows nothing. */
function rulesOf(value: Value | undefined): readonly Value[] | undefined {
  return value === undefined || Array.isArray(value) ? value : typeof value === "string" ? [value] : [];
}

/**
 * The execution functions of the master's host, loaded when a system first asks for one. Nothing of them is logged: a
 * password may be among their arguments.
 */
class MasterFunctions implements Pick<CallingHost, "has" | "call"> {
  readonly #opts: MasterOpts;
  #host: Promise<CallingHost> | undefined;

  constructor(opts: MasterOpts) {
    this.#opts = opts;
  }

  async has(fun: string): Promise<boolean> {
    return await (await this.#open()).has?.(fun) ?? false;
  }

  async call(...call: Parameters<CallingHost["call"]>): Promise<Value> {
    return await (await this.#open()).call(...call);
  }

  async #open(): Promise<CallingHost> {
    const opening = this.#host ??= executionFunctions().then((late) => late.openExecutionFunctions(this.#opts));
    try {
      return await opening;
    } catch (error) {
      this.#host = undefined;
      throw error;
    }
  }
}

/**
 * Loads them when a system first asks. Named as a file, for an import that Deno can read before would put all execution
 * modules into the module graph of each master that runs from the sources: 90 MB.
 */
function executionFunctions(): Promise<typeof import("./execution_functions.ts")> {
  return import(new URL("./execution_functions.ts", import.meta.url).href);
}
