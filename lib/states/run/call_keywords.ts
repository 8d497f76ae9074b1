/**
 * The keyword arguments of calls that compile or run states, beside the parameters of the functions.
 * Source: Salt 3008.3, `salt/modules/state.py`, `get_sls_opts` of `salt/utils/state.py`.
 * @module
 */

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
 * The keywords of a function of the module `state`; `undefined` for those that are checked only where they run:
 * `state.single`, `state.pkg`, functions of the operator.
 */
export function stateKeywords(fun: string): readonly string[] | undefined {
  const [, name] = fun.split(".");
  if (Object.hasOwn(OWN.run, name)) return [...OWN.run[name], ...RUN_KEYWORDS];
  if (Object.hasOwn(OWN.compile, name)) return [...OWN.compile[name], ...COMPILE_KEYWORDS];
  return undefined;
}
