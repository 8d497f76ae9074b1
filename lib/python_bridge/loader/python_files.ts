/**
 * The plugins in Python of this host, and the names that each may take: read from the directories and the texts of the
 * files, without running them. Which name a file really takes, its function `__virtual__` decides in Python.
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { compareStrings, isMap, truthy, type Value } from "#lib/values/value.ts";
import { type PluginPaths, PYTHON_FAMILIES, type PythonFamily } from "#lib/python_bridge/link/messages.ts";

/** The directories of each family, lowest precedence first. */
export type PluginDirectories = Readonly<Partial<Record<PythonFamily, readonly string[]>>>;

/** The plugins in Python. Can be passed to other threads (structured clone). */
export interface PythonPlugins {
  readonly files: PluginPaths;
  /** The names under which functions of a family may be called, besides those that a file computes. */
  readonly names: Readonly<Partial<Record<PythonFamily, readonly string[]>>>;
}

/** What a process has that loads none. */
export const NO_PYTHON_PLUGINS: PythonPlugins = { files: {}, names: {} };

/** The names of the beacons in Python, as far as their files show them. */
export function pythonBeacons({ names }: PythonPlugins): readonly string[] {
  return names.beacons ?? [];
}

/** The options that choose plugins. */
export interface PluginChoice {
  /** The option `python_plugins`: whether there are any, or their names. */
  readonly allowed: boolean | readonly string[];
  /**
   * Whether a plugin is loaded, by the name of its file.
   * @param possible That name, and those that its `__virtual__` may return.
   */
  readonly isLoaded: (family: PythonFamily, name: string, possible: () => readonly string[]) => boolean;
  /** The plugins of a family that are in TypeScript or JavaScript, which win. */
  readonly others: (family: PythonFamily) => ReadonlySet<string>;
  /** Called for each plugin that is left out because of another one of its name. */
  readonly warn: (message: string) => void;
}

/** What the option `python_plugins` allows. */
export function allowedPlugins(option: Value): boolean | string[] {
  return Array.isArray(option) ? option.map(String) : truthy(option) && !isMap(option);
}

/** Reads the directories and files. A directory that is missing has no plugins. */
export function findPythonPlugins(directories: PluginDirectories, choice: PluginChoice): PythonPlugins {
  if (choice.allowed === false) return NO_PYTHON_PLUGINS;
  const files: Partial<Record<PythonFamily, Record<string, string>>> = {};
  const names: Partial<Record<PythonFamily, string[]>> = {};
  for (const family of PYTHON_FAMILIES) {
    const found = filesOf(directories[family] ?? [], family, choice);
    if (found.size === 0) continue;
    files[family] = Object.fromEntries(found);
    const possible = [...found].flatMap(([name, path]) => possibleNames(name, path));
    names[family] = [...new Set(possible)];
  }
  return { files, names };
}

function filesOf(
  directories: readonly string[],
  family: PythonFamily,
  { allowed, isLoaded, others, warn }: PluginChoice,
): Map<string, string> {
  const found = new Map(directories.flatMap((directory) => pythonFiles(directory)));
  if (found.size === 0) return found;
  const twins = others(family);
  for (const [name, path] of found) {
    const isAllowed = typeof allowed === "boolean" || allowed.includes(name);
    const isWanted = isAllowed && isLoaded(family, name, () => possibleNames(name, path));
    if (isWanted && !twins.has(name)) continue;
    found.delete(name);
    if (isWanted) warn(`${path} is not loaded: a module in TypeScript or JavaScript has its name`);
  }
  return found;
}

/** The plugins in a directory: `NAME.py`, or a package `NAME`. A name does not begin with `_`. */
function pythonFiles(directory: string): [string, string][] {
  let entries: Deno.DirEntry[];
  try {
    entries = [...Deno.readDirSync(directory)].sort((a, b) => compareStrings(a.name, b.name));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
  return entries.flatMap(({ name, isDirectory }): [string, string][] => {
    const module = /^([^_.][^.]*)(?:\.py)?$/.exec(name)?.[1];
    if (module === undefined) return [];
    if (name.endsWith(".py")) return isDirectory ? [] : [[module, `${directory}/${name}`]];
    const inside = `${directory}/${name}/__init__.py`;
    return isDirectory && isFile(inside) ? [[module, inside]] : [];
  });
}

/** The names that a plugin may have. */
function possibleNames(name: string, path: string): string[] {
  return [name, ...virtualNames(readTextFileIfExists(path) ?? "")];
}

/** A text in quotes that can be the name of a module. */
const QUOTED = /["']([\w-]+)["']/g;

/** The names that `__virtual__` of a file may return, as far as its text shows them. */
function virtualNames(text: string): string[] {
  if (!text.includes("__virtual")) return [];
  const body = /^def __virtual__\b.*\n((?:[ \t#].*\n|\s*\n)*)/m.exec(text)?.[1] ?? "";
  const constants = [...text.matchAll(/^(\w+)\s*=\s*["']([\w-]+)["']/gm)];
  const used = constants.filter(([, name]) =>
    name === "__virtualname__" || new RegExp(`\\b${escapeRegex(name)}\\b`).test(body)
  );
  const aliases = /^__virtual_aliases__\s*=(.*(?:\n[ \t].*)*)/m.exec(text)?.[1] ?? "";
  return [
    ...used.map(([, , value]) => value),
    ...[body, aliases].flatMap((part) => [...part.matchAll(QUOTED)].map(([, name]) => name)),
  ];
}
