/**
 * Parsers for the output of rpm, and its query formats. Pure functions over text.
 * Source: Salt 3008.3, `salt/utils/pkg/rpm.py`, `salt/modules/rpm_lowpkg.py`; rpm(8), rpm-queryformat(7).
 * @module
 */

import { resolvedName } from "./rpm_architectures.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { compareLooseVersions } from "#lib/text/loose_version.ts";
import { compareStrings, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** One package, installed or in a repository. */
export interface RpmPackage {
  /** With the architecture, if that is not the host's. */
  readonly name: string;
  /** `epoch:version-release`; an epoch of 0 is left out. */
  readonly version: string;
  readonly arch: string;
  readonly repoid: string;
  readonly install_date: string | null;
  /** Seconds since 1970. */
  readonly install_date_time_t: number | null;
}

/**
 * The format of {@linkcode parsePackageLine}.
 * @param repository The placeholder of the repository.
 */
export function packageFormat(repository: string): string {
  return `%{NAME}_|-%{EPOCH}_|-%{VERSION}_|-%{RELEASE}_|-%{ARCH}_|-${repository}_|-%{INSTALLTIME}`;
}

/** @returns `undefined` if the line is in another format. */
export function parsePackageLine(line: string, own: string): RpmPackage | undefined {
  const parts = line.split("_|-");
  if (parts.length !== 7) return undefined;
  const [name, epoch, version, release, arch, repoid, time] = parts;
  const bare = release === "" ? version : `${version}-${release}`;
  const isInstalled = time !== "(none)" && time !== "0" && /^\s*\d+\s*$/.test(time);
  return {
    name: resolvedName(name, arch, own),
    version: epoch === "(none)" || epoch === "0" ? bare : `${epoch}:${bare}`,
    arch,
    repoid,
    install_date: isInstalled ? `${isoSeconds(Number(time))}+00:00Z` : null,
    install_date_time_t: isInstalled ? Number(time) : null,
  };
}

/** `2026-01-01T00:00:00` */
function isoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 19);
}

/** The packages of `rpm -qa`, by name, in the order of the output; the versions of each are sorted. */
export function parseRpmInstalled(text: string, own: string): Map<string, RpmPackage[]> {
  const packages = new Map<string, RpmPackage[]>();
  for (const line of splitLines(text)) {
    const one = parsePackageLine(line, own);
    if (one === undefined) continue;
    const all = packages.get(one.name);
    if (all === undefined) packages.set(one.name, [one]);
    else all.push(one);
  }
  const bare = ({ version }: RpmPackage) => splitVersion(version).version;
  for (const all of packages.values()) all.sort((a, b) => compareStrings(bare(a), bare(b)));
  return packages;
}

/** Epoch, version and release of `epoch:version-release`; `null` for missing parts. */
export function splitVersion(
  full: string,
): { readonly epoch: string | null; readonly version: string; readonly release: string | null } {
  const colon = full.indexOf(":");
  const rest = full.slice(colon + 1);
  const dash = rest.indexOf("-");
  return {
    epoch: colon < 0 ? null : full.slice(0, colon),
    version: dash < 0 ? rest : rest.slice(0, dash),
    release: dash < 0 ? null : rest.slice(dash + 1),
  };
}

/**
 * Packages by their names, with the versions, of `%{NAME} %{VERSION}`; and the lines that name packages which are not
 * installed.
 */
export function parseNames(
  text: string,
): { readonly packages: Map<string, string>; readonly missing: readonly string[] } {
  const packages = new Map<string, string>();
  const missing: string[] = [];
  for (const line of text.split("\n")) {
    const [name, version] = line.trim().split(/\s+/);
    if (line.includes("is not installed")) missing.push(line);
    else if (version !== undefined) packages.set(name, version);
  }
  return { packages, missing };
}

const FILE_TYPES: Readonly<Record<string, string>> = {
  c: "config",
  d: "doc",
  g: "ghost",
  l: "license",
  r: "readme",
};

/** The properties at the positions of `S.5....T.`, in order, each with its letter. */
const MISMATCHES = [
  ["S", "size"],
  ["M", "mode"],
  ["5", "md5sum"],
  ["D", "device major/minor number"],
  ["L", "readlink path"],
  ["U", "user"],
  ["G", "group"],
  ["T", "mtime"],
  ["P", "capabilities"],
] as const;

/**
 * The changed files in the output of `rpm -V`.
 * @param ignored Types of files that are left out.
 */
export function parseVerify(text: string, ignored: readonly string[]): ValueMap {
  const files: ValueMap = new Map();
  for (const given of text.split("\n")) {
    const isMissing = given.includes("missing");
    const line = isMissing ? ` ${given}` : given;
    const type: string | undefined = FILE_TYPES[line[11] ?? ""];
    const info: ValueMap = isMissing ? map({ missing: true }) : new Map();
    if (type !== undefined) info.set("type", type);
    const isShown = type === undefined || !ignored.includes(type);
    if (!isMissing) {
      const mismatches = MISMATCHES.filter(([letter], i) => isShown && line[i] === letter).map(([, what]) => what);
      info.set("mismatch", mismatches);
    }
    if (isShown) files.set(line.slice(13), info);
  }
  return files;
}

const MODIFIED = ["size", "mode", "checksum", "device", "symlink", "owner", "group", "time", "capabilities"];

/** The files of `rpm -Va`, each with its changed properties. */
export function parseModified(text: string): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const words = line.split(/\s+/);
    const [changes, config, name] = words.length === 3 ? words : [words[0], undefined, words[1]];
    if (name === undefined) continue;
    const places = [...changes.length === 8 ? `${changes}.` : changes];
    const info = MODIFIED.filter((_, i) => places[i] !== undefined && places[i] !== ".");
    files.set(name, config === undefined ? info : [...info, "config"]);
  }
  return files;
}

/** The attributes of `lowpkg.info`, with their query formats. */
const INFO_FORMATS: Readonly<Record<string, string>> = {
  name: "name: %{NAME}\\n",
  relocations: "relocations: %|PREFIXES?{[%{PREFIXES} ]}:{(not relocatable)}|\\n",
  version: "version: %{VERSION}\\n",
  vendor: "vendor: %{VENDOR}\\n",
  release: "release: %{RELEASE}\\n",
  epoch: "%|EPOCH?{epoch: %{EPOCH}\\n}|",
  build_date_time_t: "build_date_time_t: %{BUILDTIME}\\n",
  build_date: "build_date: %{BUILDTIME}\\n",
  install_date_time_t: "install_date_time_t: %|INSTALLTIME?{%{INSTALLTIME}}:{(not installed)}|\\n",
  install_date: "install_date: %|INSTALLTIME?{%{INSTALLTIME}}:{(not installed)}|\\n",
  build_host: "build_host: %{BUILDHOST}\\n",
  group: "group: %{GROUP}\\n",
  source_rpm: "source_rpm: %{SOURCERPM}\\n",
  size: "size: %{SIZE}\\n",
  arch: "arch: %{ARCH}\\n",
  license: "%|LICENSE?{license: %{LICENSE}\\n}|",
  signature: "signature: %|DSAHEADER?{%{DSAHEADER:pgpsig}}:{%|RSAHEADER?{%{RSAHEADER:pgpsig}}:" +
    "{%|SIGGPG?{%{SIGGPG:pgpsig}}:{%|SIGPGP?{%{SIGPGP:pgpsig}}:{(none)}|}|}|}|\\n",
  packager: "%|PACKAGER?{packager: %{PACKAGER}\\n}|",
  url: "%|URL?{url: %{URL}\\n}|",
  summary: "summary: %{SUMMARY}\\n",
  description: "description:\\n%{DESCRIPTION}\\n",
  edition: "edition: %|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n",
};

/**
 * The format of {@linkcode parseRpmInfo}; `undefined` if none of the attributes is known.
 * @param attributes Those that are wanted; `undefined`: all.
 * @param hasLongSize Whether rpm supports sizes above 4 GB.
 */
export function infoFormat(attributes: readonly string[] | undefined, hasLongSize: boolean): string | undefined {
  const names = Object.keys(INFO_FORMATS).filter((name) => name !== "description");
  const wanted = attributes === undefined
    ? names
    : attributes.filter((name, i) => names.includes(name) && attributes.indexOf(name) === i);
  if (wanted.length === 0) return undefined;
  const needed = ["name", "edition"].filter((name) => attributes !== undefined && !attributes.includes(name));
  const last = attributes === undefined || attributes.includes("description") ? ["description"] : [];
  const formats = [...wanted, ...needed, ...last].map((name) =>
    name === "size" && hasLongSize ? "size: %{LONGSIZE}\\n" : INFO_FORMATS[name]
  );
  return `${formats.join("")}-----\\n`;
}

/** The packages in rpm's output of {@linkcode infoFormat}, by name, the newest of each first. */
export function parseRpmInfo(
  text: string,
  { hasDescription }: { readonly hasDescription: boolean },
): Map<string, ValueMap[]> {
  const all = text.split(/---+-/).flatMap((paragraph) => {
    const info = parseParagraph(paragraph.trim(), hasDescription);
    return info === undefined ? [] : [info];
  });
  const edition = (one: ValueMap) => String(one.get("edition") ?? "");
  const packages = new Map<string, ValueMap[]>();
  for (const one of all.sort((a, b) => compareLooseVersions(edition(a), edition(b))).reverse()) {
    const name = String(one.get("name"));
    one.delete("name");
    if (name.startsWith("gpg-pubkey")) continue;
    packages.set(name, [...packages.get(name) ?? [], one]);
  }
  return packages;
}

function parseParagraph(text: string, hasDescription: boolean): ValueMap | undefined {
  if (text === "") return undefined;
  const lines = text.split("\n");
  if (lines.at(-1)?.toLowerCase().startsWith("distribution")) lines.pop();
  const start = lines.findIndex((line) => /^\s*description\s*:/.test(line));
  const info: ValueMap = new Map();
  for (const line of start < 0 ? lines : lines.slice(0, start)) {
    const colon = line.indexOf(":");
    const [key, value] = [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    if (colon >= 0) setField(info, key, value);
  }
  if (hasDescription) info.set("description", start < 0 ? "" : lines.slice(start + 1).join("\n"));
  return info.has("name") ? info : undefined;
}

function setField(info: ValueMap, key: string, value: string): void {
  const isDate = key.endsWith("_date");
  if (!isDate && !key.endsWith("_date_time_t")) {
    if (value !== "") info.set(key, value);
  } else if (/^\d+$/.test(value)) {
    const shownValue: Value = isDate ? `${isoSeconds(Number(value))}Z` : Number(value);
    info.set(key, shownValue);
  }
}
