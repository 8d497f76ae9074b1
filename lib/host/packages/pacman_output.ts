/**
 * Parsers for the output of pacman. Pure functions over text.
 * Source: Salt 3008.3, `salt/modules/pacmanpkg.py`; pacman(8).
 * @module
 */

import { PackageLister, type PackageVersions } from "./package_list.ts";
import { compareStrings, type Value, type ValueMap } from "#lib/values/value.ts";

/** Lines of two words or more, as words. */
function pairs(text: string): string[][] {
  return text.split("\n").map((line) => line.trim().split(/\s+/)).filter((words) => words.length >= 2);
}

/** The packages of `pacman -Q`. */
export function parsePacmanInstalled(text: string): PackageVersions {
  const packages = new PackageLister();
  for (const [name, version] of pairs(text)) packages.add(name, version);
  return packages.done();
}

/** Names with versions of `--print-format '%n %v'`, without the lines about downloads. */
export function parsePrinted(text: string): ValueMap {
  const isPair = (words: readonly string[]) => words.length === 2;
  const isDownload = ([first, second]: readonly string[]) =>
    first.toLowerCase() === "downloading" && second.toLowerCase().includes(".db");
  const packages = pairs(text).filter((words) => isPair(words) && !isDownload(words));
  return new Map(packages.map(([name, version]): [Value, Value] => [name, version]));
}

/** Parses the output of `pacman -Sy`: whether each database was read again. */
export function parsePacmanRefresh(text: string): ValueMap {
  const databases: ValueMap = new Map();
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "" || line.startsWith("::")) continue;
    const words = line.split(/\s+/);
    if (line.includes("is up to date")) databases.set(words[0], false);
    else if (line.includes("downloading") && words.length > 1) databases.set(words[1].split(".")[0], true);
  }
  return databases;
}

/** The packages of each group. */
export function parsePacmanGroups(text: string): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [group, name] of pairs(text)) groups.set(group, [...groups.get(group) ?? [], name]);
  return groups;
}

/** The groups, by the installed part of their packages. */
export function sortGroups(
  available: ReadonlyMap<string, readonly string[]>,
  installed: ReadonlyMap<string, readonly string[]>,
): { installed: string[]; partially_installed: string[]; available: string[] } {
  const known = [...installed].filter(([name]) => available.has(name));
  const isWhole = ([name, members]: readonly [string, readonly string[]]) =>
    members.length === available.get(name)?.length;
  const names = (groups: readonly (readonly [string, unknown])[]) => groups.map(([name]) => name).sort(compareStrings);
  return {
    installed: names(known.filter(isWhole)),
    partially_installed: names(known.filter((one) => !isWhole(one))),
    available: names([...available].filter(([name]) => !installed.has(name))),
  };
}

/** The files of `pacman -Ql` with their packages, and its errors. */
export function parseFiles(
  text: string,
): { readonly errors: readonly string[]; readonly files: readonly (readonly [name: string, path: string])[] } {
  const lines = text.split("\n");
  const isError = (line: string) => line.startsWith("error");
  const files = lines.filter((line) => line !== "" && !isError(line)).map((line) => {
    const [name, ...rest] = line.trim().split(/\s+/);
    return [name, rest.join(" ")] as const;
  });
  return { errors: lines.filter(isError), files };
}
