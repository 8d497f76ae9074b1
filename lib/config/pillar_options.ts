/**
 * The options of pillar, which a master has and a minion that compiles its own.
 * @module
 */

import { any, bool, choice, dict, float, int, list, type Option, str, strs } from "./option_types.ts";

/** Options of both roles. */
export const PILLAR_OPTIONS = {
  pillar_roots: dict(
    new Map([["base", ["/srv/pillar", "/srv/spm/pillar"]]]),
    "Directories of pillar files, a list for each environment. `__env__` stands for an environment that is not listed.",
  ),
  pillarenv: str(null, "The one environment to take pillar from; unset: all of them."),
  pillarenv_from_saltenv: bool(
    false,
    "Whether pillar is taken from the environment of the states if `pillarenv` is unset.",
  ),
  pillar_source_merging_strategy: choice("smart", "How pillar files are merged.", [
    "smart",
    "recurse",
    "list",
    "aggregate",
    "overwrite",
    "none",
  ]),
  pillar_merge_lists: bool(false, "Whether lists in pillar are merged too."),
  pillar_includes_override_sls: bool(false, "Whether an included pillar file wins over the one that includes it."),
  pillar_safe_render_error: bool(true, "Whether minions get errors in pillar without their details."),
  pillar_opts: bool(false, "Whether pillar holds the master's configuration under `master`."),
  ext_pillar: list([], "Other sources of pillar: a list of maps of one key, the name of the source."),
  ext_pillar_first: bool(
    false,
    "Whether the sources of `ext_pillar` come first, so that pillar files see their data and override it.",
  ),
  exclude_ext_pillar: strs([], "Sources of `ext_pillar` that are left out."),
  on_demand_ext_pillar: strs(["libvirt", "virtkey"], "External pillars that `pillar.ext` may ask for."),
  decrypt_pillar: any(
    [],
    "Keys of pillar whose values are decrypted: a list of paths, or of maps from a path to a renderer.",
  ),
  decrypt_pillar_default: str("gpg", "The renderer for paths of `decrypt_pillar` that name none."),
  decrypt_pillar_delimiter: str(":", "The separator in the paths of `decrypt_pillar`."),
  decrypt_pillar_renderers: strs(["gpg"], "The renderers that `decrypt_pillar` may use."),
  pillar_cache: bool(
    false,
    "Whether a minion's compiled pillar is used again for `pillar_cache_ttl` seconds, even if its sources have changed. Without it a pillar " +
      "is used again as long as nothing that it depends on has changed.",
  ),
  pillar_cache_ttl: int(3600, "Seconds that an entry of `pillar_cache` is used.", { min: 0 }),
  pillar_cache_backend: choice(
    "disk",
    "Where `pillar_cache` is stored: `disk` is the data cache, `memory` the memory of the master.",
    [
      "disk",
      "memory",
    ],
  ),
  pillar_processes: int(4, "Maximum number of processes in which a master compiles pillar. Not in Salt.", {
    min: 1,
    max: 64,
  }),
  pillar_timeout: float(
    120,
    "Seconds that a minion's pillar may take to be compiled; then its process is ended. Not in Salt.",
    { min: 1 },
  ),
  pillar_max_bytes: int(
    33_554_432,
    "Bytes that a minion's pillar may have; a larger one is an error in its place. Not in Salt.",
    { min: 65_536 },
  ),
  pillar_mask_output: bool(true, "Whether `pillar.items` hides values in results."),
} as const satisfies Readonly<Record<string, Option>>;

/** Options of the minion alone. */
export const MINION_PILLAR_OPTIONS = {
  pillar_raise_on_missing: bool(
    false,
    "Whether `pillar.get` fails for a key that is not there, if no default is given.",
  ),
  minion_pillar_cache: bool(
    false,
    "Whether the pillar is written to `pillar` in the cache directory as well, as pillar files; else it is in memory only.",
  ),
  pass_to_ext_pillars: strs([], "Options of the minion that external pillars of the master get, by name or by path."),
} as const satisfies Readonly<Record<string, Option>>;
