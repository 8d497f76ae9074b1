/**
 * Writes the master's configuration files, for wheel's `config` module.
 * Source: Salt 3008.3 `salt/wheel/config.py`.
 * @module
 */

import { checkOption } from "./option_types.ts";
import { masterOptions } from "./master_options.ts";
import type { OptionTable } from "./option_types.ts";
import { ConfigError } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";

/** Clients of the master that are other users read its configuration. */
const MODE = 0o644;

/**
 * Sets one option in the configuration file `path`, which may be missing.
 * @throws {ConfigError} If the option cannot have the value: the master would not start.
 * @throws {YamlError} If the file cannot be read.
 */
export function applyOption(path: string, { key, value }: { readonly key: string; readonly value: Value }): void {
  check(key, value);
  const text = readTextFileIfExists(path);
  const options: ValueMap = text === undefined ? new Map() : loadYamlMapping(text, path).value;
  writeFileAtomic(path, dumpYaml(options.set(key, value)), { mode: modeOf(path) });
}

/**
 * Writes `contents` as the YAML file `name` in `directory`, which is created if it is missing.
 * @returns Salt's text for what was done, or why not.
 */
export function updateConfig(
  directory: string,
  { name, contents }: { readonly name: string; readonly contents: Value },
): string {
  // Only files of this directory with names that a pattern of `default_include` can match.
  if (!/^[^/\0\n]+$/.test(name) || name.startsWith(".")) return "Invalid path";
  try {
    if (isMap(contents)) { for (const [key, value] of contents) check(String(key), value); }
    const path = `${directory}/${name}`;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o755 });
    writeFileAtomic(path, dumpYaml(contents), { mode: modeOf(path) });
  } catch (error) {
    if (error instanceof ConfigError || error instanceof Deno.errors.PermissionDenied) return error.message;
    throw error;
  }
  return `Wrote ${name}`;
}

function check(key: string, value: Value): void {
  const table: OptionTable = masterOptions();
  if (!Object.hasOwn(table, key)) return;
  const result = checkOption(table[key], value);
  if ("problem" in result) throw new ConfigError(result.problem, { option: key });
}

function modeOf(path: string): number {
  try {
    return (Deno.statSync(path).mode ?? MODE) & 0o777;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return MODE;
    throw error;
  }
}
