/**
 * The keyword arguments of calls that compile or run states, beside the parameters of the functions.
 * Source: Salt 3008.3, `salt/modules/state.py`, `get_sls_opts` of `salt/utils/state.py`.
 * @module
 */

import { UsageError } from "#lib/errors.ts";
import { scheduleKeywords } from "#lib/schedule/call_keywords.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/** Of every such call. `env` has no effect, as in Salt; test mode may be written in any letters. */
export const COMPILE_KEYWORDS: readonly string[] = [
  ...["saltenv", "env", "pillarenv", "pillar", "pillar_enc", "localconfig", "test", "Test", "TEST"],
  ...["queue", "concurrent", "force", "orchestration_jid"],
];

/** Of calls that run states. */
export const RUN_KEYWORDS: readonly string[] = [
  ...COMPILE_KEYWORDS,
  ...["exclude", "whitelist", "cache", "cache_name", "mock", "terse", "state_events", "sync_mods"],
];

/** The keywords of each function that lists its own, beside those of its kind: its parameters. */
const OWN: Readonly<Record<"run" | "compile", Readonly<Record<string, readonly string[]>>>> = {
  run: {
    apply: ["mods", "plan"],
    sls: ["mods"],
    highstate: [],
    plan: ["mods"],
    test: ["mods"],
    top: ["topfn"],
    low: ["data"],
    high: ["data"],
    template: ["tem"],
    template_str: ["tem"],
    sls_id: ["id_", "mods"],
    request: ["mods", "name"],
    run_request: ["name"],
  },
  compile: {
    show_top: [],
    show_sls: ["mods"],
    show_highstate: [],
    show_low_sls: ["mods"],
    show_lowstate: [],
    show_states: [],
    show_state_usage: [],
    sls_exists: ["mods"],
    id_exists: ["ids", "mods"],
    graph: ["mods"],
    graph_highstate: [],
    lint: ["mods", "pillar_file", "grains_file"],
  },
};

/**
 * The keywords of a function; `undefined` for those that are checked only where they run: `state.single`, `state.pkg`,
 * functions of the operator.
 */
export function stateKeywords(fun: string): readonly string[] | undefined {
  const [module, name] = fun.split(".");
  if (module !== "state") return undefined;
  if (Object.hasOwn(OWN.run, name)) return [...OWN.run[name], ...RUN_KEYWORDS];
  if (Object.hasOwn(OWN.compile, name)) return [...OWN.compile[name], ...COMPILE_KEYWORDS];
  return undefined;
}

/**
 * Checks a job before it is published: a misspelt `test=True` would change hosts, on Python minions without a message.
 * @throws {UsageError} If a function of `state` is given a keyword that it does not have.
 */
export function checkStateKeywords({ fun, arg }: { readonly fun: Value; readonly arg: readonly Value[] }): void {
  const calls: readonly (readonly [Value, Value])[] = Array.isArray(fun)
    ? fun.map((name, i) => [name, arg[i] ?? []] as const)
    : [[fun, [...arg]]];
  for (const [name, words] of calls) {
    const keywords = stateKeywords(str(name)) ?? scheduleKeywords(str(name));
    if (keywords === undefined || !Array.isArray(words)) continue;
    for (const word of words) {
      if (!isMap(word) || word.get("__kwarg__") !== true) continue;
      for (const keyword of [...word.keys()].map(str)) {
        if (keyword.startsWith("__") || keywords.includes(keyword)) continue;
        const near = didYouMean(keyword, keywords) || ".";
        throw new UsageError(`${str(name)} takes no argument '${keyword}'${near} Nothing was sent.`);
      }
    }
  }
}
