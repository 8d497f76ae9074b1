/**
 * Parsers for the output of yum, dnf and dnf5. Pure functions over text.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`; yum(8), dnf(8), dnf5(8).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { resolvedName } from "./rpm_architectures.ts";
import type { RpmPackage } from "./rpm_output.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { splitWhitespace } from "#lib/text/split_lines.ts";
import { compareStrings, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The programs of this family. */
export type YumProgram = "dnf5" | "dnf" | "tdnf" | "yum";

const HEADERS = [
  "installed packages",
  "available packages",
  "available upgrades",
  "updated packages",
  "upgraded packages",
];

/** The packages of `yum list`: name with architecture, version, repository, which may be in several lines. */
export function parseListing(text: string, own: string): RpmPackage[] {
  const lines = text.split("\n").filter((line) => !HEADERS.includes(line.toLowerCase()));
  const words = splitWhitespace(lines.join("\n"));
  const packages: RpmPackage[] = [];
  for (let i = 0; i + 2 < words.length; i += 3) {
    const [full, version, repository] = words.slice(i, i + 3);
    const dot = full.lastIndexOf(".");
    const [name, arch] = dot < 0 ? [full, own] : [full.slice(0, dot), full.slice(dot + 1)];
    packages.push({
      name: resolvedName(name, arch, own),
      version: rstripChars(version, "-"),
      arch,
      repoid: repository.replace(/^@+/, ""),
      install_date: null,
      install_date_time_t: null,
    });
  }
  return packages;
}

/** The default pattern of names in a list of holds, in Python's syntax. */
export const HOLD_PATTERN = "[\\w+]+(?:[.-][^-]+)*";

/**
 * The held packages of `yum versionlock list`: the listed entries, or only their names.
 * @param options.pattern The pattern of names, in Python's syntax.
 */
export function parseHolds(
  text: string,
  { program, pattern, full }: { readonly program: YumProgram; readonly pattern: string; readonly full: boolean },
): string[] {
  const isDnf = program === "dnf" || program === "dnf5";
  const lock = pythonRegex(`${isDnf ? "" : "\\d+:"}${pattern}-\\S+`, { search: true });
  return text.split("\n").flatMap((line) => {
    const match = lock.match(line);
    if (match === undefined) return [];
    return [full ? match : heldName(isDnf ? match : match.replace(/^\d+:/, ""))];
  });
}

/** The name in `bash-0:5.1-1.*`. */
function heldName(held: string): string {
  return beforeLast(beforeLast(beforeLast(held, "."), "-"), "-");
}

function beforeLast(text: string, separator: string): string {
  const at = text.lastIndexOf(separator);
  return at < 0 ? text : text.slice(0, at);
}

/** The held packages in dnf5's `versionlock.toml`, of which this reads names and conditions of one version. */
export function parseDnf5Holds(text: string, { full }: { readonly full: boolean }): string[] {
  const packages: { name?: string; evr?: string; condition: Map<string, string> }[] = [];
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "[[packages]]") packages.push({ condition: new Map() });
    const last = packages.at(-1);
    if (last === undefined) continue;
    if (line === "[[packages.conditions]]") last.condition = new Map([["open", ""]]);
    const [, key, , value] = /^(\w+)\s*=\s*(["'])(.*?)\2/.exec(line) ?? [];
    if (key === undefined) continue;
    if (!last.condition.has("open")) {
      if (key === "name") last.name = value;
      continue;
    }
    last.condition.set(key, value);
    const { key: what, comparator, value: evr } = Object.fromEntries(last.condition);
    if (what === "evr" && comparator === "=" && evr !== undefined) last.evr ??= evr;
  }
  if (!full) return [...new Set(packages.flatMap(({ name }) => name ? [name] : []))];
  return packages.flatMap(({ name, evr }) => {
    if (!name || evr === undefined) return [];
    return [`${name}-${evr.includes(":") ? evr : `0:${evr}`}.*`];
  });
}

const SECTIONS: Readonly<Record<string, string>> = {
  "installed groups:": "installed",
  "available groups:": "available",
  "installed environment groups:": "installed environments",
  "available environment groups:": "available environments",
  "available language groups:": "available languages",
};

/** The groups of `yum grouplist hidden`, by kind. */
export function parseYumGroups(text: string): ValueMap {
  const languages: ValueMap = new Map();
  const groups = new Map<string, Value[]>(
    ["installed", "available", "installed environments", "available environments"].map((name) => [name, []]),
  );
  let section: string | undefined;
  for (const line of text.split("\n")) {
    const lower = line.toLowerCase();
    if (lower === "done") break;
    const next = SECTIONS[lower];
    if (next !== undefined && next !== section) section = next;
    else if (section === "available languages") {
      const [, name, language] = /^(.+) \[(.+)\]/.exec(line.trim()) ?? [];
      if (name !== undefined) languages.set(line.trim(), map({ name, language }));
    } else if (section !== undefined) groups.get(section)?.push(line.trim());
  }
  return new Map<Value, Value>([...groups, ["available languages", languages]]);
}

/** The groups of `dnf5 group list --hidden`, whose last column says whether they are installed. */
export function parseDnf5Groups(text: string): ValueMap {
  const groups = new Map<string, string[]>([["yes", []], ["no", []]]);
  for (const line of text.split("\n")) {
    const words = line.trim().split(/\s+/);
    if (words.length >= 3) groups.get(words.at(-1)?.toLowerCase() ?? "")?.push(words[0]);
  }
  return map({
    installed: groups.get("yes"),
    available: groups.get("no"),
    "installed environments": [],
    "available environments": [],
    "available languages": {},
  });
}

/** The kinds of packages in a group. */
export const GROUP_KINDS = ["mandatory", "optional", "default", "conditional"] as const;

/** One group in yum's output. */
export interface GroupInfo {
  readonly type: string;
  readonly group: string | null;
  readonly id: string | null;
  readonly description: string;
  /** Packages, or groups of an environment, by kind. */
  readonly members: ReadonlyMap<string, readonly string[]>;
}

/** @returns `undefined` if there is no such group. */
export function parseYumGroup(text: string): GroupInfo | undefined {
  const lines = text.split("\n");
  const fields = new Map(
    lines.flatMap((line): [string, string][] => {
      const parts = line.split(":").map((part) => part.trim());
      return parts.length === 2 ? [[parts[0].toLowerCase(), parts[1]]] : [];
    }),
  );
  const first = (...names: string[]) => names.map((name) => fields.get(name)).find((value) => value) ?? null;
  const group = first("environment group", "group", "name");
  const id = first("environment-id", "group-id", "id");
  if (group === null && id === null) return undefined;
  const type = fields.has("environment group") ? "environment group" : "package group";
  const members = new Map(GROUP_KINDS.map((kind) => [kind, membersOf(lines, kind)]));
  return { type, group, id, description: fields.get("description") ?? "", members };
}

function membersOf(lines: readonly string[], kind: string): string[] {
  const members: string[] = [];
  let isInside = false;
  for (const given of lines) {
    const line = given.trim().replace(/^[!-/:-@[-`{-~]+/, "").trim();
    const [, title, rest] = /^(mandatory|optional|default|conditional) (?:groups|packages)\s*:\s*(.*)$/i.exec(line) ??
      [];
    if (title !== undefined) {
      if (isInside) break;
      isInside = title.toLowerCase() === kind;
      if (!isInside || rest === "") continue;
    }
    const member = title === undefined ? line : rest.trim();
    if (isInside && member !== "") members.push(member);
  }
  return [...new Set(members)].sort(compareStrings);
}

/** The advisories of `yum updateinfo list all`, with their packages, and whether all of them are installed. */
export function parsePatches(text: string): Map<string, { installed: boolean; summary: string[] }> {
  const patches = new Map<string, { installed: boolean; summary: string[] }>();
  for (const line of text.split("\n")) {
    const [, mark, id, , name] = /^([i|\s])? ?([^\s]+) +([^\s]+) +([^\s]+)/.exec(line) ?? [];
    if (id === undefined) continue;
    const patch = patches.get(id);
    if (patch === undefined) patches.set(id, { installed: mark === "i", summary: [name] });
    else {
      patch.summary.push(name);
      if (mark !== "i") patch.installed = false;
    }
  }
  return patches;
}
