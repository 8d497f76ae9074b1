/**
 * All grains of a minion: core grains, the user's own functions, the static `grains` file, and the `grains` option;
 * later ones replace earlier ones.
 * Source: Salt 3008.3 `salt/loader/__init__.py` grains, `salt/grains/extra.py` config.
 * @module
 */

import { YamlError } from "#lib/errors.ts";
import { userFiles } from "#lib/plugins/loader.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { CoreGrains, GrainHost } from "#lib/plugins/core_grains.ts";
import { LateMap } from "#lib/values/late_map.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { compileMatchExpression } from "#lib/text/expr_match.ts";
import { str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";

/** Options of {@linkcode loadGrains}. */
export interface GrainsSources {
  readonly core: CoreGrains;
  /** Called for a grains file or function that fails. */
  readonly warn?: (message: string) => void;
  /** The host to inspect. Default: this one. */
  readonly host?: GrainHost;
}

const NO_FQDNS = { fqdns: [] };

/** The grains of the minion with these options. Never fails: failed grains are missing, and `warn` gets the reason. */
export async function loadGrains(
  opts: MinionOpts,
  { core, host, warn = () => {} }: GrainsSources,
): Promise<ValueMap> {
  const names = opts.enable_fqdns_grains ? await core.readNames(host) : NO_FQDNS;
  const grains: ValueMap = new Map();
  for (const part of [asMap(core.read(opts, host)), asMap(names), ...await ownGrains(opts, warn)]) {
    merge(grains, part);
  }
  if (hasPythonGrains(opts)) {
    const { pluginGrains } = await import("#lib/minion/worker/python_grains.ts");
    for (const part of await pluginGrains({ opts, grains, warn })) merge(grains, part);
  }
  merge(grains, staticGrains(`${opts.config_dir}/grains`, warn));
  const listed = withoutBlacklisted(grains, opts);
  merge(listed, opts.grains);
  return listed;
}

/** The grains without those of `grains_blacklist`. */
function withoutBlacklisted(grains: ValueMap, { grains_blacklist }: MinionOpts): ValueMap {
  if (grains_blacklist.length === 0) return grains;
  const tests = grains_blacklist.map(compileMatchExpression);
  return new Map([...grains].filter(([name]) => !tests.some((matches) => matches(str(name)))));
}

/**
 * Grains that switch Salt's behaviour, and are read with each job or each run of states. They are never core grains.
 */
const SWITCHES = ["minion_blackout", "minion_blackout_whitelist", "state_runs_disabled"];

/**
 * Like {@linkcode loadGrains}; if grains come only from core grains, the static file and the option `grains`, the core
 * grains are computed when one of them is first read: for a single `salt-call test.ping` they are a quarter of the
 * work.
 */
export async function lazyGrains(opts: MinionOpts, sources: GrainsSources): Promise<ValueMap> {
  const isWhole = opts.enable_fqdns_grains || opts.grains_blacklist.length > 0;
  if (isWhole || hasOwnGrains(opts) || hasPythonGrains(opts)) return await loadGrains(opts, sources);
  const merged: ValueMap = new Map();
  merge(merged, staticGrains(`${opts.config_dir}/grains`, sources.warn ?? (() => {})));
  merge(merged, opts.grains);
  return new LateMap<Value, Value>(merged, () => {
    const grains = asMap({ ...sources.core.read(opts, sources.host), ...NO_FQDNS });
    merge(grains, merged);
    return grains;
  }, SWITCHES);
}

function merge(into: ValueMap, from: ValueMap): void {
  for (const [name, value] of from) into.set(name, value);
}

function asMap(plain: unknown): ValueMap {
  const value: Value = toValue(plain);
  return mapOrEmpty(value);
}

/** The grains of the operator's own files; without such files no process is started. */
async function ownGrains(opts: MinionOpts, warn: (message: string) => void): Promise<ValueMap[]> {
  if (!hasOwnGrains(opts)) return [];
  const { customGrains } = await import("#lib/minion/worker/custom_grains.ts");
  return await customGrains(opts, warn);
}

function hasOwnGrains(opts: MinionOpts): boolean {
  return grainsDirectories(opts).some((directory) => userFiles(directory).size > 0);
}

/** Most hosts have none: then nothing of the bridge to Python is loaded. */
function hasPythonGrains(opts: MinionOpts): boolean {
  return opts.python_plugins !== false && grainsDirectories(opts).some((directory) => hasPluginNames(directory));
}

function hasPluginNames(directory: string): boolean {
  try {
    return [...Deno.readDirSync(directory)].some(({ name, isDirectory }) => isDirectory || name.endsWith(".py"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    throw error;
  }
}

function grainsDirectories(opts: MinionOpts): string[] {
  return [...opts.grains_dirs, `${opts.extension_modules}/grains`];
}

function staticGrains(path: string, warn: (message: string) => void): ValueMap {
  try {
    return loadYamlMapping(Deno.readTextFileSync(path), path).value;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Map();
    if (!(error instanceof YamlError || error instanceof Deno.errors.PermissionDenied)) throw error;
    warn(`The static grains are missing: ${error.message}`);
    return new Map();
  }
}
