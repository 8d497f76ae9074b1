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
