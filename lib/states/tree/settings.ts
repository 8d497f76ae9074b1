/**
 * The settings of a compilation: the minion's options, those from the master, and the arguments of the call. Source:
 * Salt 3008.3, `BaseHighState.__gen_opts` of `salt/state.py`, `get_sls_opts` of `salt/utils/state.py`.
 * @module
 */

import { CommandError, InvocationError, YamlError } from "#lib/errors.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { MAX_ALIASED } from "#lib/yaml/nodes.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The settings of one compilation. */
export interface HighStateSettings {
  /** The minion's options merged with the master's, for renderers. */
  readonly opts: ValueMap;
  /** The requested environment, if any. */
  readonly saltenv: string | undefined;
}

/** Options that the master decides, with their defaults. */
const OF_MASTER: readonly (readonly [name: string, absent?: Value])[] = [
  ["renderer"],
  ["failhard", false],
  ["state_top"],
  ["state_top_saltenv", null],
  ["nodegroups", new Map()],
  ["state_auto_order"],
  ["file_roots"],
  ["top_file_merging_strategy"],
  ["env_order"],
  ["default_top"],
  ["jinja_env", new Map()],
  ["jinja_sls_env", new Map()],
  ["jinja_lstrip_blocks", false],
  ["jinja_trim_blocks", false],
];

/** Options that the master decides if the minion does not set them. */
const OF_BOTH = ["state_events", "state_aggregate"];

/** The minion's options with those that the master gives to its minions. */
export function withMasterOpts(own: ValueMap, master: ValueMap): ValueMap {
  const opts = new Map(own);
  for (const [name, absent] of OF_MASTER) {
    const value = master.get(name) ?? absent;
    if (value !== undefined) opts.set(name, value);
  }
  for (const name of OF_BOTH) {
    const value = own.get(name);
    opts.set(name, truthy(value) && value !== undefined ? value : master.get(name) ?? false);
  }
  return opts;
}

/**
 * The settings of a call.
 * @param own The minion's options.
 * @param kwargs The arguments of the call.
 * @throws {CommandError} If `lock_saltenv` forbids the environment.
 */
export function settingsOf(own: ValueMap, kwargs: ValueMap): HighStateSettings {
  const opts = new Map(own);
  const given = kwargs.get("saltenv");
  if (given !== undefined && given !== null) {
    if (truthy(opts.get("lock_saltenv")) && str(given) !== opts.get("saltenv")) {
      throw new CommandError("lock_saltenv is enabled, saltenv cannot be changed");
    }
    opts.set("saltenv", str(given));
  }
  const pillarenv = kwargs.has("pillarenv") ? kwargs.get("pillarenv") : fromSaltenv(opts, given);
  if (pillarenv !== undefined) opts.set("pillarenv", textOrNull(pillarenv));
  const saltenv = opts.get("saltenv");
  return { opts, saltenv: truthy(saltenv) && saltenv !== undefined ? str(saltenv) : undefined };
}

/** The environment of pillar that follows from that of states, with the option for it. */
function fromSaltenv(opts: ValueMap, saltenv: Value | undefined): Value | undefined {
  return truthy(opts.get("pillarenv_from_saltenv")) ? saltenv : undefined;
}

/** `salt://top.sls`, `/top.sls` and `top.sls` are one file of the file server. */
export function stateTopPath(opts: ValueMap): string {
  return str(opts.get("state_top") ?? "top.sls").replace(/^salt:\/\//, "").replace(/^\//, "");
}

/**
 * The argument `pillar=` of a call.
 * @throws {InvocationError} If it is something else, and is not encrypted.
 */
export function pillarOverride(kwargs: ValueMap): Value | undefined {
  const pillar = kwargs.get("pillar");
  if (pillar === undefined || pillar === null) return undefined;
  const encrypted = kwargs.get("pillar_enc") ?? null;
  if (encrypted === null && !isMap(pillar)) {
    const words = "Pillar data must be formatted as a dictionary, unless pillar_enc is specified.";
    throw new InvocationError(`${words}${yamlMistake(pillar)}`);
  }
  return pillar;
}

/** Where a text that was typed for a value is no YAML, with a blank before it; empty if it is YAML, or no text. */
export function yamlMistake(typed: Value): string {
  if (typeof typed !== "string") return "";
  try {
    loadYaml(typed, "pillar", { maxAliased: MAX_ALIASED.argument });
    return "";
  } catch (error) {
    if (error instanceof YamlError) return ` ${error.message}`;
    throw error;
  }
}

/** The names of an option or argument that may be one name or a list. */
export function listNames(value: Value | undefined): string[] {
  if (Array.isArray(value)) return value.map(str);
  return typeof value === "string" && value !== "" ? [value] : [];
}
