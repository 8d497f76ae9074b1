/**
 * Parsers for the output of pip. Pure functions over text.
 * Source: Salt 3008.3, `salt/modules/pip.py`; pip.pypa.io.
 * @module
 */

import { JsonError } from "#lib/errors.ts";
import { comparePythonVersions } from "./python_version.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The name of a package as all its spellings are compared: `Zope.Interface` is `zope-interface`. */
export function normalizePipName(name: string): string {
  return name.replace(/[-_.]+/g, "-").toLowerCase();
}

/** The version in `pip --version`. */
export function parsePipVersion(text: string): string | undefined {
  return /^pip (\S+)/.exec(text)?.[1];
}

/** Packages with their versions of `pip freeze`; lines that name no version are left out. */
export function parseFreeze(lines: readonly string[]): Map<string, string> {
  const packages = new Map<string, string>();
  for (const line of lines) {
    if (line.startsWith("-f") || line.startsWith("#") || line.startsWith("-e hg+not trust")) continue;
    const entry = line.startsWith("-e") ? line.slice(line.indexOf("-e ") + 3) : line;
    const [name, version] = line.startsWith("-e") && entry.includes("#egg=")
      ? entry.split("#egg=").reverse()
      : entry.split(entry.includes("===") ? "===" : "==");
    if (version !== undefined) packages.set(normalizePipName(name), version);
  }
  return packages;
}

/** The packages of `pip list --format=json`; `undefined` if it is not JSON. */
export function parsePipList(text: string): ValueMap[] | undefined {
  try {
    const list: Value = parseJson(text);
    return Array.isArray(list) ? list.filter(isMap) : [];
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** Parses the output of `pip list --outdated` of pip before 9.0: packages with their newest versions. */
export function parsePipOutdated(text: string, { isOldest }: { readonly isOldest: boolean }): ValueMap {
  const pattern = isOldest ? /(\S*)\s+\(.*Latest:\s+(.*)\)/ : /(\S*)\s+\(.*\)\s+-\s+Latest:\s+(.*)/;
  return new Map(
    splitLines(text).flatMap((line): [Value, Value][] => {
      const [, name, version] = pattern.exec(line) ?? [];
      return name === undefined ? [] : [[name, version]];
    }),
  );
}

/**
 * The versions that pip lists, the oldest first.
 * @param isWanted Whether to include a version.
 */
export function parseVersions(text: string, isWanted: (version: string) => boolean): string[] {
  for (const line of splitLines(text)) {
    const [, versions] = /\s*(?:Available versions: (.*)|Could not find a version.* \(from versions: (.*)\))/.exec(line)
      ?.filter((part) => part !== undefined) ?? [];
    if (versions === undefined) continue;
    return versions.split(", ").filter((version) => version !== "" && isWanted(version)).sort(comparePythonVersions);
  }
  return [];
}

/** The files that a requirements file includes. */
export function includedRequirements(text: string): string[] {
  const bare = text.replace(/(?:^|(?<!\s)\s+)#.*$/gm, "");
  return [...bare.matchAll(/(?:-r\s|--requirement[=\s])(.*)\n?/gm)].map(([, path]) => str(path));
}
