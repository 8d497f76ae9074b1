/**
 * Configuration files, read and merged the way Salt does it: the main file, then `default_include`, then `include`.
 *
 * Records where each option was written. Does not know what options mean. Source: salt/config (load_config,
 * include_config), salt/utils/dictupdate.
 * @module
 */

import { dirName, joinPath } from "#lib/os/paths.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { ConfigError, messageOf, YamlError } from "#lib/errors.ts";
import { globPaths } from "#lib/os/glob_paths.ts";
import { equals, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";

/** What was written for one option, and where. */
export interface Written {
  /** The value as YAML gave it. */
  readonly value: Value;
  /** The file; absent for an option of the command line. */
  readonly file?: string;
  /** The line of the option's name, from 1. */
  readonly line?: number;
}

/** Everything that was written, by option. */
export type WrittenOptions = Map<string, Written>;

/** How {@linkcode readConfigFiles} reads. */
export interface ReadOptions {
  /** The value of `default_include` if the main file does not set it. */
  readonly defaultInclude: string;
  /** The user's home, for paths that start with `~/`. */
  readonly home?: string;
}

/** The file in the directory of `default_include` that the minion writes itself: the schedule reads it. */
export const SAVED_SCHEDULE = "_schedule.conf";

/** The directory of `default_include`, in which programs write files of their own. */
export function includeDirectory(
  { config_dir, default_include }: { readonly config_dir: string; readonly default_include: string },
): string {
  return joinPath(config_dir, dirName(default_include));
}

/** The option whose jobs are merged by name: a file that is included adds to those of the main file. */
const MERGED = "schedule";

/** What {@linkcode readConfigFiles} found. */
export interface ReadConfig {
  readonly options: WrittenOptions;
  /** Patterns of `include` that matched no file. */
  readonly warnings: string[];
  /** What was read, a line each, for the log. */
  readonly steps: string[];
}

/**
 * Reads the main file `path` (missing: no options) and what it includes. An included file's option replaces the main
 * file's; among the included files maps are merged and lists are joined.
 * @throws {ConfigError} For a file that cannot be read or understood, naming file and line.
 */
export function readConfigFiles(path: string, how: ReadOptions): ReadConfig {
  const warnings: string[] = [];
  const steps: string[] = [];
  const options = readConfigFile(path) ?? new Map<string, Written>();
  const directory = dirName(path);
  steps.push(`Reading configuration from ${path}`);
  const base = { directory, home: how.home, seen: new Set([path]), warnings, steps };
  const defaults = includePatterns(options.get("default_include") ?? { value: how.defaultInclude }, "default_include");
  const includes = includePatterns(options.get("include") ?? { value: null }, "include");
  const add = (included: WrittenOptions) => {
    for (const [name, written] of included) {
      const before = name === MERGED ? options.get(name) : undefined;
      options.set(name, before === undefined ? written : { ...written, value: merge(before.value, written.value) });
    }
  };
  add(readIncluded(defaults, { ...base, warnIfNone: false }));
  add(readIncluded(includes, { ...base, warnIfNone: true }));
  return { options, warnings, steps };
}

/**
 * The options of one file; `undefined` if there is none.
 * @throws {ConfigError} If it cannot be read, or is not a YAML mapping.
 */
export function readConfigFile(path: string): WrittenOptions | undefined {
  let text: string | undefined;
  try {
    text = readTextFileIfExists(path);
  } catch (error) {
    const reason = error instanceof Deno.errors.PermissionDenied ? "no right to read it" : messageOf(error);
    throw new ConfigError(`cannot be read: ${reason}`, { file: path });
  }
  if (text === undefined) return undefined;
  try {
    const { value, lines } = loadYamlMapping(text, path);
    return new Map(
      [...value].map(([key, item]) => [str(key), { value: item, file: path, line: lines.get(str(key)) }]),
    );
  } catch (error) {
    if (error instanceof YamlError) throw new ConfigError(error.problem, { file: path, line: error.line });
    throw error;
  }
}

/**
 * The patterns that `default_include` or `include` holds.
 * @throws {ConfigError} If it holds something else.
 */
export function includePatterns(written: Written, option: string): string[] {
  const { value, file, line } = written;
  const list = Array.isArray(value) ? value : value === null || value === "" ? [] : [value];
  return list.map((pattern) => {
    if (typeof pattern === "string") return pattern;
    throw new ConfigError("must be a path or a list of paths", { file, line, option });
  });
}

interface IncludeContext {
  /** Directory that relative patterns start from. */
  readonly directory: string;
  readonly home?: string;
  /** Files that are being read, to stop a file that includes itself. */
  readonly seen: ReadonlySet<string>;
  readonly warnIfNone: boolean;
  readonly warnings: string[];
  readonly steps: string[];
}

function readIncluded(list: readonly string[], context: IncludeContext): WrittenOptions {
  const merged: WrittenOptions = new Map();
  for (const pattern of list) {
    const files = globPaths(absolute(pattern, context));
    if (files.length === 0 && context.warnIfNone) context.warnings.push(`include: ${pattern} matches no file`);
    for (const file of files) {
      if (context.seen.has(file) || isDirectory(file) || file.endsWith(`/${SAVED_SCHEDULE}`)) continue;
      const options = readConfigFile(file) ?? new Map<string, Written>();
      context.steps.push(`Including configuration from '${file}'`);
      const nested = includePatterns(options.get("include") ?? { value: null }, "include");
      const directory = dirName(file);
      const inner = { ...context, directory, seen: new Set([...context.seen, file]), warnIfNone: true };
      for (const [name, written] of readIncluded(nested, inner)) options.set(name, written);
      for (const [name, written] of options) {
        const before = merged.get(name);
        merged.set(name, before === undefined ? written : { ...written, value: merge(before.value, written.value) });
      }
    }
  }
  return merged;
}

function absolute(pattern: string, context: IncludeContext): string {
  if (pattern.startsWith("~/") && context.home !== undefined) return `${context.home}/${pattern.slice(2)}`;
  return pattern.startsWith("/") ? pattern : `${context.directory}/${pattern}`;
}

/** Merges maps, adds missing items to lists, and replaces everything else. */
function merge(before: Value, after: Value): Value {
  if (isMap(before) && isMap(after)) {
    const merged: ValueMap = new Map(before);
    for (const [key, item] of after) {
      const old = merged.get(key);
      merged.set(key, old === undefined ? item : merge(old, item));
    }
    return merged;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    return [...before, ...after.filter((item) => !before.some((other) => equals(other, item)))];
  }
  return after;
}
