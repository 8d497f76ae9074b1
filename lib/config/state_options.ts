/**
 * The options of states: how top files and SLS files are read. A master gives its own to its minions.
 * @module
 */

import { anyOption, boolOption, choiceOption, intOption, type Option, strOption, strsOption } from "./option_types.ts";

/** Options of both roles. */
export const STATE_OPTIONS = {
  saltenv: strOption(null, "The environment of files and states if none is named."),
  lock_saltenv: boolOption(false, "Whether `saltenv=` of a call may not name another environment than the option."),
  state_top: strOption("top.sls", "Name of the top file."),
  state_top_saltenv: strOption(null, "The one environment whose top file is read; unset: that of each."),
  default_top: strOption(
    "base",
    "With `top_file_merging_strategy: same`: whose top file serves environments without one.",
  ),
  env_order: strsOption([], "The environments whose top files are read, in this order; empty: all, base first."),
  top_file_merging_strategy: choiceOption("merge", "How the top files of several environments become one.", [
    "merge",
    "same",
    "merge_all",
  ]),
  state_auto_order: boolOption(true, "Whether states without `order` run in the order in which they are written."),
  state_aggregate: anyOption(false, "true, or a list of state modules (`[pkg]`): states that may run as one call do."),
  failhard: boolOption(false, "Whether a run of states ends at the first one that failed."),
  state_events: boolOption(false, "Whether a minion fires an event on the master for every state that it has run."),
  state_check_arguments: boolOption(
    true,
    "Whether an argument that a state does not read, though Salt's takes any, is an error if it looks like a misspelt one.",
  ),
  disabled_requisites: anyOption([], "Requisites that are ignored: a name, or a list of names."),
  master_tops: anyOption(new Map(), "Other sources of top data, by name: `ext_nodes`, or custom ones."),
  master_tops_first: boolOption(false, "Whether the data of `master_tops` comes before that of the top file."),
} as const satisfies Readonly<Record<string, Option>>;

/** Options of a minion alone. */
export const MINION_STATE_OPTIONS = {
  state_max_parallel: intOption(0, "How many states with `parallel` run at once; 0: any number.", { min: 0 }),
  state_queue: anyOption(
    false,
    "Default of `queue`: whether state functions wait for one another; a number: the most that may wait.",
  ),
  global_state_conditions: anyOption(
    null,
    "Targets that must match for states to be called, by `*`, a state module or a state function: `{'*': ['G@os:Debian']}`.",
  ),
} as const satisfies Readonly<Record<string, Option>>;
