/**
 * Where a job of a schedule is written: the file and line of its name. Files are read again for that, which happens
 * only for broken entries.
 * @module
 */

import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { globPaths } from "#lib/os/glob_paths.ts";
import { YamlError } from "#lib/errors.ts";
import { isMap } from "#lib/values/value.ts";
import { loadYamlPlaces } from "#lib/yaml/load.ts";

/** The options that say where the configuration is. */
export interface ScheduleFiles {
  readonly conf_file: string;
  readonly config_dir: string;
  readonly default_include: string;
}

/**
 * `FILE:LINE` of the job `name` in the configuration, or of its option `schedule` for the name `""`; `undefined` if no
 * file has it. The last file counts, as its job does.
 */
export function placeOfJob(files: ScheduleFiles, name: string): string | undefined {
  const { conf_file, config_dir, default_include } = files;
  const included = globPaths(default_include.startsWith("/") ? default_include : `${config_dir}/${default_include}`);
  for (const path of [...included.reverse(), conf_file]) {
    const line = lineIn(path, name);
    if (line !== undefined) return `${path}:${line}`;
  }
  return undefined;
}

function lineIn(path: string, name: string): number | undefined {
  try {
    const text = readTextFileIfExists(path);
    if (text === undefined) return undefined;
    const { value, places } = loadYamlPlaces(text, path);
    if (!isMap(value) || !value.has("schedule")) return undefined;
    const schedule = value.get("schedule") ?? null;
    if (name === "") return isMap(schedule) ? undefined : places.of(value, "schedule")?.line;
    return isMap(schedule) && schedule.has(name) ? places.of(schedule, name)?.line : undefined;
  } catch (error) {
    if (error instanceof YamlError || error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}
