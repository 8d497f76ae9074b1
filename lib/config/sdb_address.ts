/**
 * Addresses of sdb, `sdb://profile/key`, and the two kinds of values that are read without asking a service: variables
 * of the environment, and YAML files. Loads no driver.
 * Source: Salt 3008.3, `salt/utils/sdb.py`, `salt/sdb/env.py`, `salt/sdb/yaml.py`.
 * @module
 */

import { mergeMaps } from "#lib/values/dict_merge.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { traverse } from "#lib/yaml/traverse.ts";
import { messageOf, YamlError } from "#lib/errors.ts";

const SCHEME = "sdb://";

/** The parts of an address. */
export interface SdbAddress {
  readonly profile: string;
  readonly key: string;
}

/** Whether a value begins as an address does. */
export function isSdbText(value: Value): value is string {
  return typeof value === "string" && value.startsWith(SCHEME);
}

/** The parts of an address; `undefined`: it has no profile or no key. */
export function parseSdbAddress(text: string): SdbAddress | undefined {
  const slash = text.indexOf("/", SCHEME.length);
  const key = text.slice(slash + 1);
  return slash < 0 || key === "" ? undefined : { profile: text.slice(SCHEME.length, slash), key };
}

/**
 * The merged contents of the files of a profile with the driver `yaml`.
 * @param tell Called with a sentence about each file that cannot be read; it is left out.
 */
export function yamlContents(profile: ValueMap, tell: (text: string) => void): ValueMap {
  const merge = mapOrEmpty(profile.get("merge"));
  const how = {
    strategy: str(merge.get("strategy") ?? "smart"),
    renderer: str(merge.get("renderer") ?? "yaml"),
    mergeLists: truthy(merge.get("merge_lists") ?? merge.get("merge_list")),
  };
  let merged: ValueMap = new Map();
  for (const file of listOrEmpty(profile.get("files")).map(str)) {
    const contents = yamlMap(file, tell);
    if (contents !== undefined) merged = mergeMaps(merged, contents, how);
  }
  return merged;
}

function yamlMap(file: string, tell: (text: string) => void): ValueMap | undefined {
  try {
    const contents = loadYaml(Deno.readTextFileSync(file), file);
    if (isMap(contents)) return contents;
    tell(`Error deserializing sdb file '${file}': it is no map`);
  } catch (error) {
    if (error instanceof YamlError) tell(`Error deserializing sdb file '${file}': ${messageOf(error)}`);
    else if (error instanceof Deno.errors.NotFound) tell(`File '${file}' not found `);
    else tell(`File '${file}' cannot be read: ${messageOf(error)}`);
  }
  return undefined;
}

/** The surroundings of options that are read. */
export interface SdbSurroundings {
  /** The option of this name; `undefined`: it is not set. */
  profile(name: string): Value | undefined;
  /** The variable of the environment; `undefined`: it is not set. */
  variable(name: string): string | undefined;
  /** Called with a sentence about what cannot be read and is left out. */
  tell(text: string): void;
  /** Throws the error that the text says. */
  refuse(text: string): never;
}

/**
 * An option's value with what its addresses lead to in their place; the same value if it has none. An address that
 * names no profile stays, as in Salt.
 * @throws What `refuse` throws, for a driver that asks a service or a program.
 */
export function withSdbValues(value: Value, around: SdbSurroundings): Value {
  if (isSdbText(value)) return sdbValue(value, around);
  if (Array.isArray(value)) {
    const items = value.map((item) => withSdbValues(item, around));
    return items.every((item, i) => item === value[i]) ? value : items;
  }
  if (!isMap(value)) return value;
  const entries = [...value].map(([key, item]): [Value, Value] => [key, withSdbValues(item, around)]);
  return entries.every(([key, item]) => item === value.get(key)) ? value : new Map(entries);
}

function sdbValue(text: string, { profile: find, variable, tell, refuse }: SdbSurroundings): Value {
  const address = parseSdbAddress(text);
  const profile = address && find(address.profile);
  if (address === undefined || !isMap(profile) || !profile.has("driver")) return text;
  const driver = profile.get("driver");
  if (driver === "env") return variable(address.key) ?? null;
  if (driver === "yaml" && !truthy(profile.get("gpg"))) {
    return traverse(yamlContents(profile, tell), address.key) ?? null;
  }
  return refuse(`${text} cannot be read: in options the drivers env, and yaml without gpg, are possible`);
}
