/**
 * The options of pillar, which a master has and a minion that compiles its own.
 * @module
 */

import {
  anyOption,
  boolOption,
  choiceOption,
  dictOption,
  floatOption,
  intOption,
  listOption,
  type Option,
  strOption,
  strsOption,
} from "./option_types.ts";

/** Options of both roles. */
export const PILLAR_OPTIONS = {
  pillar_roots: dictOption(
    new Map([["base", ["/srv/pillar", "/srv/spm/pillar"]]]),
    "Directories of pillar files, a list for each environment. `__env__` stands for an environment that is not listed.",
  ),
  pillarenv: strOption(null, "The one environment to take pillar from; unset: all of them."),
  pillarenv_from_saltenv: boolOption(
    false,
    "Whether pillar is taken from the environment of the states if `pillarenv` is unset.",
  ),
  pillar_source_merging_strategy: choiceOption("smart", "How pillar files are merged.", [
    "smart",
    "recurse",
    "list",
    "aggregate",
    "overwrite",
    "none",
  ]),
  pillar_merge_lists: boolOption(false, "Whether lists in pillar are merged too."),
  pillar_includes_override_sls: boolOption(
    false,
    "Whether an included pillar file wins over the one that includes it.",
  ),
  pillar_safe_render_error: boolOption(true, "Whether minions get errors in pillar without their details."),
  pillar_opts: boolOption(false, "Whether pillar holds the master's configuration under `master`."),
  ext_pillar: listOption([], "Other sources of pillar: a list of maps of one key, the name of the source."),
  ext_pillar_first: boolOption(
    false,
    "Whether the sources of `ext_pillar` come first, so that pillar files see their data and override it.",
  ),
  exclude_ext_pillar: strsOption([], "Sources of `ext_pillar` that are left out."),
  on_demand_ext_pillar: strsOption(["libvirt", "virtkey"], "External pillars that `pillar.ext` may ask for."),
  decrypt_pillar: anyOption(
    [],
    "Keys of pillar whose values are decrypted: a list of paths, or of maps from a path to a renderer.",
  ),
  decrypt_pillar_default: strOption("gpg", "The renderer for paths of `decrypt_pillar` that name none."),
  decrypt_pillar_delimiter: strOption(":", "The separator in the paths of `decrypt_pillar`."),
  decrypt_pillar_renderers: strsOption(["gpg"], "The renderers that `decrypt_pillar` may use."),
  pillar_cache: boolOption(
    false,
    "Whether a minion's compiled pillar is used again for `pillar_cache_ttl` seconds, even if its sources have changed. Without it a pillar " +
      "is used again as long as nothing that it depends on has changed.",
  ),
  pillar_cache_ttl: intOption(3600, "Seconds that an entry of `pillar_cache` is used.", { min: 0 }),
  pillar_cache_backend: choiceOption(
    "disk",
    "Where `pillar_cache` is stored: `disk` is the data cache, `memory` the memory of the master.",
    [
      "disk",
      "memory",
    ],
  ),
  pillar_processes: intOption(4, "Maximum number of processes in which a master compiles pillar. Not in Salt.", {
    min: 1,
    max: 64,
  }),
  pillar_timeout: floatOption(
    120,
    "Seconds that a minion's pillar may take to be compiled; then its process is ended. Not in Salt.",
    { min: 1 },
  ),
  pillar_max_bytes: intOption(
    33_554_432,
    "Bytes that a minion's pillar may have; a larger one is an error in its place. Not in Salt.",
    { min: 65_536 },
  ),
  pillar_mask_output: boolOption(true, "Whether `pillar.items` hides values in results."),
} as const satisfies Readonly<Record<string, Option>>;

/** Options of the minion alone. */
export const MINION_PILLAR_OPTIONS = {
  pillar_raise_on_missing: boolOption(
    false,
    "Whether `pillar.get` fails for a key that is not there, if no default is given.",
  ),
  minion_pillar_cache: boolOption(
    false,
    "Whether the pillar is written to `pillar` in the cache directory as well, as pillar files; else it is in memory only.",
  ),
  pass_to_ext_pillars: strsOption(
    [],
    "Options of the minion that external pillars of the master get, by name or by path.",
  ),
} as const satisfies Readonly<Record<string, Option>>;
