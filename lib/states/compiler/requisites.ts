/**
 * The requisites of states, as tables: their names, their weight in the order of states, and which arguments are for
 * the compiler instead of the state's function. Source: Salt 3008.3, `salt/utils/requisite.py` and `salt/state.py`.
 * @module
 */

/**
 * Requisites that make an edge of the graph, by weight: where a state is needed by several, only the heaviest kinds
 * move it forward.
 */
export const REQUISITE_WEIGHT = {
  onfail: 0,
  onfail_any: 1,
  onfail_all: 2,
  require: 3,
  require_any: 4,
  onchanges: 5,
  onchanges_any: 6,
  watch: 7,
  watch_any: 8,
  prereq: 9,
} as const;

/** The name of a requisite that makes an edge. */
export type Requisite = keyof typeof REQUISITE_WEIGHT;

/** The same in the order in which a chunk's edges are added, which decides between edges of one pair of states. */
export const REQUISITES: readonly Requisite[] = [
  ...["require", "require_any", "watch", "watch_any", "prereq"] as const,
  ...["onfail", "onfail_any", "onfail_all", "onchanges", "onchanges_any"] as const,
];

/** Arguments that must be lists of requisites, and that an `extend` joins instead of replacing. */
export const REQUISITE_KEYWORDS: ReadonlySet<unknown> = new Set([
  ...REQUISITES,
  ...["prerequired", "listen", "onfail_stop"],
]);

/** Arguments that add to another state, or take from it. */
export const REQUISITE_IN_KEYWORDS: ReadonlySet<unknown> = new Set([
  ...["require_in", "watch_in", "onfail_in", "onchanges_in", "use", "use_in", "prereq_in"],
]);

/** Arguments that `use` and `use_in` do not copy. */
export const NOT_USED: ReadonlySet<unknown> = new Set([
  ...REQUISITE_IN_KEYWORDS,
  ...["require", "watch", "prereq", "onfail", "onfail_stop", "onchanges", "name", "names"],
]);

/** Arguments of a state that are for the compiler and the runtime: its function does not get them. */
export const INTERNAL_KEYWORDS: ReadonlySet<unknown> = new Set([
  ...REQUISITE_KEYWORDS,
  ...["onchanges_in", "onfail_in", "prereq_in", "watch_in", "require_in", "listen_in", "use", "use_in"],
  ...["fun", "state", "check_cmd", "cmd_opts_exclude", "failhard", "onlyif", "unless", "creates", "retry", "order"],
  ...[
    "parallel",
    "reload_modules",
    "reload_grains",
    "reload_pillar",
    "runas",
    "runas_password",
    "no_log",
    "fire_event",
  ],
  ...["saltenv", "umask", "__env__", "__sls__", "__id__", "__sls_included_from__", "__orchestration_jid__"],
  ...["__pub_user", "__pub_arg", "__pub_jid", "__pub_fun", "__pub_tgt", "__pub_ret", "__pub_pid", "__pub_tgt_type"],
  ...["__prereq__", "__prerequiring__", "__umask__"],
]);

/** The arguments that users write in any state, for suggestions. */
export const COMMON_ARGUMENTS: readonly string[] = [
  ...REQUISITES,
  ...["onfail_all", "listen", "require_in", "watch_in", "onfail_in", "onchanges_in", "prereq_in", "listen_in"],
  ...["unless", "onlyif", "creates", "check_cmd", "retry", "order", "failhard", "parallel"],
  ...["reload_modules", "reload_grains", "reload_pillar"],
];
