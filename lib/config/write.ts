/**
 * Writes the master's configuration files, for wheel's `config` module.
 * Source: Salt 3008.3 `salt/wheel/config.py`.
 * @module
 */

import type { ConfigFiles } from "./entry_places.ts";
import { includeDirectory, includePatterns } from "./files.ts";
import { loadMasterConfig } from "./load.ts";
import { ConfigError } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";

/** Clients of the master that are other users read its configuration. */
const MODE = 0o644;

/**
 * Sets one option in the main configuration file, which may be missing.
 * @throws {ConfigError} If the option cannot have the value: the master would not start.
 * @throws {YamlError} If the file cannot be read.
 */
export function applyOption(place: ConfigFiles, { key, value }: { readonly key: string; readonly value: Value }): void {
  check(new Map([[key, value]]), place);
  const path = place.conf_file;
  const text = readTextFileIfExists(path);
  const options: ValueMap = text === undefined ? new Map() : loadYamlMapping(text, path).value;
  writeFileAtomic(path, dumpYaml(options.set(key, value)), { mode: modeOf(path) });
}

/**
 * Writes `contents` as the YAML file `name` in the directory of `default_include`, which is created if it is missing.
 * @returns Salt's text for what was done, or why not.
 */
export function updateConfig(
  place: ConfigFiles,
  { name, contents }: { readonly name: string; readonly contents: Value },
): string {
  // Only files of this directory with names that a pattern of `default_include` can match.
  if (!/^[^/\0\n]+$/.test(name) || name.startsWith(".")) return "Invalid path";
  // The master would not start with such a file.
  if (!isMap(contents)) return "The options are no dictionary";
  const directory = includeDirectory(place);
  try {
    check(contents, place);
    const path = `${directory}/${name}`;
    Deno.mkdirSync(directory, { recursive: true, mode: 0o755 });
    writeFileAtomic(path, dumpYaml(contents), { mode: modeOf(path) });
  } catch (error) {
    if (error instanceof ConfigError || error instanceof Deno.errors.PermissionDenied) return error.message;
    throw error;
  }
  return `Wrote ${name}`;
}

/** @throws {ConfigError} If the master would not start with these options. */
function check(options: ValueMap, { config_dir: configDir }: ConfigFiles): void {
  includePatterns({ value: options.get("include") ?? null }, "include");
  const overrides = Object.fromEntries([...options].map(([name, value]) => [str(name), value]));
  try {
    loadMasterConfig({ configDir, overrides });
  } catch (error) {
    if (!(error instanceof ConfigError) || error.where.file === undefined) throw error;
    // What is wrong in a file is not due to these options, which may be to mend it.
    loadMasterConfig({ configDir, overrides, readsFiles: false });
  }
}

function modeOf(path: string): number {
  try {
    return (Deno.statSync(path).mode ?? MODE) & 0o777;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return MODE;
    throw error;
  }
}
