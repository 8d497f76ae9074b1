/**
 * Where an entry of an option that is a map or a list is written: the file and line of its name. Files are read again
 * for that, which happens only for broken entries.
 * @module
 */

import { YamlError } from "#lib/errors.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { globPaths } from "#lib/os/glob_paths.ts";
import { isMap } from "#lib/values/value.ts";
import { loadYamlPlaces } from "#lib/yaml/load.ts";

/** The options that say where the configuration is. */
export interface ConfigFiles {
  readonly conf_file: string;
  readonly config_dir: string;
  readonly default_include: string;
}

/** A line of a file. */
export interface EntryPlace {
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/**
 * `FILE:LINE` of the entry `name` of an option in the configuration, or of the option itself for the name `""`;
 * `undefined` if no file has it. The last file counts, as its entry does.
 */
export function placeOfEntry(files: ConfigFiles, option: string, name: string): string | undefined {
  const place = findEntry(files, option, name);
  return place && `${place.file}:${place.line}`;
}

/**
 * The place of an entry of an option in the configuration: of a map by its name, of a list by its index; for the name
 * `""` that of the option itself, if it is no map.
 */
export function findEntry(files: ConfigFiles, option: string, key: string | number): EntryPlace | undefined {
  const { conf_file, config_dir, default_include } = files;
  const included = globPaths(default_include.startsWith("/") ? default_include : `${config_dir}/${default_include}`);
  for (const path of [...included.reverse(), conf_file]) {
    const line = lineIn(path, option, key);
    if (line !== undefined) return { file: path, line };
  }
  return undefined;
}

function lineIn(path: string, option: string, key: string | number): number | undefined {
  try {
    const text = readTextFileIfExists(path);
    if (text === undefined) return undefined;
    const { value, places } = loadYamlPlaces(text, path);
    if (!isMap(value) || !value.has(option)) return undefined;
    const entries = value.get(option) ?? null;
    if (key === "") return isMap(entries) ? undefined : places.of(value, option)?.line;
    if (isMap(entries) && entries.has(key)) return places.of(entries, key)?.line;
    return Array.isArray(entries) && Number(key) < entries.length ? places.of(entries, key)?.line : undefined;
  } catch (error) {
    if (error instanceof YamlError || error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}
