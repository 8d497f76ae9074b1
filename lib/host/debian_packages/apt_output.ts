/**
 * Parsers for the output of apt-get, apt-cache and dpkg. Pure functions over text.
 * Source: Salt 3008.3, `salt/modules/aptpkg.py`, `salt/modules/dpkg_lowpkg.py`; dpkg-query(1), apt-cache(8).
 * @module
 */

import { PackageLister, type PackageVersions } from "#lib/host/packages/package_list.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The format that {@linkcode parsePackages} reads, for `dpkg-query --showformat`. */
export const PACKAGES_FORMAT = "${Status} ${Package} ${Version} ${Architecture}\n";

/** The packages of a host, by dpkg's state. */
export interface DebianPackages {
  readonly installed: PackageVersions;
  /** Removed; their configuration files still exist. */
  readonly removed: PackageVersions;
  /** Installed, and marked to be purged. */
  readonly purgeDesired: PackageVersions;
}

/** @param foreign Whether the name of a package of this architecture includes the architecture. */
export function parsePackages(text: string, foreign: (architecture: string) => boolean): DebianPackages {
  const [installed, removed, purgeDesired] = [new PackageLister(), new PackageLister(), new PackageLister()];
  for (const line of text.split("\n")) {
    const [wanted, , status, name, version, architecture] = line.trim().split(/\s+/);
    if (architecture === undefined) continue;
    const full = foreign(architecture) ? `${name}:${architecture}` : name;
    // "deinstall" has "install" in it, as with Salt.
    if (/install|hold/.test(wanted) && status.includes("installed")) installed.add(full, version);
    else if (wanted.includes("deinstall")) removed.add(full, version);
    else if (wanted.includes("purge") && status === "installed") purgeDesired.add(full, version);
  }
  return { installed: installed.done(), removed: removed.done(), purgeDesired: purgeDesired.done() };
}

/** The candidate of each package of `apt-cache policy`; an empty text if it has none. */
export function parsePolicy(text: string): Map<string, string> {
  const candidates = new Map<string, string>();
  let name: string | undefined;
  for (const line of text.split("\n")) {
    if (/^\S.*:$/.test(line)) name = line.slice(0, -1);
    const [, candidate] = /^\s*Candidate:\s*(.*)$/.exec(line) ?? [];
    if (candidate === undefined || name === undefined) continue;
    const version = candidate.trim().split(/\s+/).at(-1) ?? "";
    candidates.set(name, version.toLowerCase() === "(none)" ? "" : version);
  }
  return candidates;
}

/**
 * Parses the output of `apt-get update`: for each source whether it was read again (True), unchanged (None) or failed
 * (False).
 */
export function parseUpdate(text: string): { readonly sources: ValueMap; readonly failed: string[] } {
  const sources: ValueMap = new Map();
  const failed: string[] = [];
  for (const line of text.split("\n")) {
    const [word, ...rest] = line.trim().split(/\s+/);
    if (word === "") continue;
    const name = rest.join(" ");
    if (word.includes("Get")) sources.set(name.replace(/ \[.+B\]$/, ""), true);
    else if (word.includes("Ign")) sources.set(name, false);
    else if (word.includes("Hit")) sources.set(name, null);
    else if (word.includes("Err")) {
      sources.set(name, false);
      failed.push(name);
    }
  }
  return { sources, failed };
}

/** The packages that `apt-get --just-print upgrade` would upgrade, with their new versions. */
export function parseAptUpgrades(text: string): ValueMap {
  return new Map([...text.matchAll(/^Conf ([^ ]+) \(([^ ]+)/gm)].map(([, name, version]) => [name, version]));
}

/** The packages that `apt-get --assume-no autoremove` would remove, sorted. */
export function parseAutoremove(text: string): string[] {
  const names: string[] = [];
  let isBelowHeading = false;
  for (const line of text.split("\n")) {
    if (line.includes("The following packages will be REMOVED:")) isBelowHeading = true;
    else if (isBelowHeading && !line.startsWith(" ")) isBelowHeading = false;
    else if (isBelowHeading) names.push(...line.trim().split(/\s+/));
  }
  return names.sort();
}

/** Parses the output of `dpkg --get-selections`: packages by state. */
export function parseSelections(text: string): Map<string, string[]> {
  const states = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [name, state] = line.trim().split(/\s+/);
    if (state === undefined) continue;
    const names = states.get(state);
    if (names === undefined) states.set(state, [name]);
    else names.push(name);
  }
  return states;
}

/** The versions of each package of `apt-cache show` or `apt-cache dump`. */
export function parseRepositoryPackages(text: string): ValueMap {
  const packages = new Map<string, string[]>();
  let current: string | undefined;
  for (const line of text.split("\n")) {
    const [, name] = /^Package: (.+)/.exec(line) ?? [];
    if (name !== undefined) current = name;
    const [, version] = /^\s*Version: (.+)/.exec(line) ?? [];
    if (version === undefined || current === undefined) continue;
    const versions = packages.get(current);
    if (versions === undefined) packages.set(current, [version.trim()]);
    else versions.push(version.trim());
  }
  return new Map(packages);
}

/**
 * The fields of each version of each package of `apt-cache show`.
 * @param wanted In lower case; empty: all.
 */
export function parseShow(text: string, wanted: readonly string[]): ValueMap {
  const packages = new Map<string, Map<string, ValueMap>>();
  for (const paragraph of text.split(/\n[ \t]*\n/)) {
    const fields: ValueMap = new Map();
    for (const line of paragraph.split("\n")) {
      const [, key, value] = /^\s*([^:]+):(.*)$/.exec(line) ?? [];
      if (key !== undefined) fields.set(key.trim(), value.trim());
    }
    const [name, version] = [fields.get("Package"), fields.get("Version")];
    if (typeof name !== "string" || typeof version !== "string") continue;
    const selected = [...fields].filter(([key]) =>
      key !== "Package" && key !== "Version" && (wanted.length === 0 || wanted.includes(String(key).toLowerCase()))
    );
    const versions = packages.get(name) ?? new Map<string, ValueMap>();
    packages.set(name, versions.set(version, new Map([...versions.get(version) ?? [], ...selected])));
  }
  return new Map([...packages].map(([name, versions]): [Value, Value] => [name, new Map(versions)]));
}

/** The separator of packages in {@linkcode INFO_FORMAT}. */
const INFO_END = "*/~^\\*";

/** The format that {@linkcode parseAptInfo} reads, for `dpkg-query -W -f`. */
export const INFO_FORMAT = [
  "package:${Package}",
  "revision:${binary:Revision}",
  "architecture:${Architecture}",
  "maintainer:${Maintainer}",
  "summary:${Summary}",
  "source:${source:Package}",
  "version:${Version}",
  "section:${Section}",
  "installed_size:${Installed-size}",
  "size:${Size}",
  "MD5:${MD5sum}",
  "SHA1:${SHA1}",
  "SHA256:${SHA256}",
  "origin:${Origin}",
  "homepage:${Homepage}",
  "status:${db:Status-Abbrev}",
  "install_date:${db-fsys:Last-Modified}",
  "description:${Description}",
  "",
  "*/~^\\\\*",
  "",
].join("\\n");

/** dpkg's information about each package: its fields by name, without empty ones. */
export function parseAptInfo(text: string): ValueMap[] {
  return text.split(`\n${INFO_END}`).filter((part) => part.trim() !== "").map((part) => {
    const [head, ...description] = part.replace(/^\r?\n/, "").split("\ndescription:");
    const fields: ValueMap = new Map();
    for (const line of head.split("\n").map((one) => one.trim())) {
      const colon = line.indexOf(":");
      if (colon < 0) continue;
      const [key, value] = [line.slice(0, colon), line.slice(colon + 1)];
      const parsed = key === "install_date" ? installDate(value) : value;
      if (parsed !== "" && parsed !== undefined) fields.set(key, parsed);
    }
    return fields.set("description", description.join("\ndescription:"));
  });
}

function installDate(seconds: string): string | undefined {
  if (!/^\d+$/.test(seconds)) return undefined;
  return new Date(Number(seconds) * 1000).toISOString().replace(".000Z", "Z");
}

/** The licences that a Debian copyright file names. */
export function parseLicences(text: string): string {
  const names = [...text.matchAll(/^License:(.*)$/gm)].map(([, name]) => name.trim());
  return [...new Set(names)].sort().join(", ");
}

/** The keys that `gpg --list-keys --with-colons` prints, by their ids. */
export function parseRepositoryKeys(text: string): ValueMap {
  const keys: ValueMap[] = [];
  for (const line of text.split("\n")) {
    const fields = line.split(":").map((field): Value => fieldValue(field.trim()));
    if (fields.length < 2) continue;
    const at = (i: number): Value => fields[i] ?? null;
    const last = keys.at(-1);
    switch (at(0)) {
      case "pub":
      case "sub": {
        const key = map({
          algorithm: at(3),
          bits: at(2),
          capability: at(11),
          date_creation: at(5),
          date_expiration: at(6),
          keyid: String(line.split(":")[4] ?? ""),
          validity: at(1),
        });
        if (at(0) === "pub") keys.push(key);
        else last?.set("subkey", key);
        break;
      }
      case "fpr": {
        const subkey = last?.get("subkey");
        (subkey instanceof Map ? subkey : last)?.set("fingerprint", at(9));
        break;
      }
      case "uid":
        last?.set("uid", at(9)).set("uid_hash", at(7));
    }
  }
  return new Map(keys.map((key): [Value, Value] => [key.get("keyid") ?? "", key]));
}

function fieldValue(field: string): Value {
  if (field === "") return null;
  return /^[+-]?\d+$/.test(field) && Number.isSafeInteger(Number(field)) ? Number(field) : field;
}

/** The name, version and architecture in `dpkg -I`; `undefined` for missing fields. */
export function parseArchive(text: string): Readonly<Partial<Record<"name" | "version" | "arch", string>>> {
  const fields: Partial<Record<"name" | "version" | "arch", string>> = {};
  for (const line of text.split("\n")) {
    const [, field, value] = /^\s*(Package|Version|Architecture) *:.*?(\S+)\s*$/.exec(line) ?? [];
    if (field !== undefined) fields[FIELDS[field]] = value;
  }
  return fields;
}

const FIELDS: Readonly<Record<string, "name" | "version" | "arch">> = {
  Package: "name",
  Version: "version",
  Architecture: "arch",
};

/** The services of `checkrestart --machine --package`. */
export function parseServicesToRestart(text: string): string[] {
  return [...new Set([...text.matchAll(/^SERVICE:([^,\n]*)/gm)].map(([, name]) => name))];
}

/** The installed packages with their versions, of status, name and version with tabs between. */
export function parseInstalledNames(text: string): ValueMap {
  return new Map(
    text.split("\n").map((line) => line.split("\t")).filter(([status]) => status === "installed").map((
      [, name, version],
    ) => [name, version]),
  );
}

/** The fields of each package of `dpkg-query --print-avail`, by package. */
export function parseAvailable(text: string): Map<string, ValueMap> {
  const packages = new Map<string, ValueMap>();
  for (const paragraph of text.split(/^(?=Package:)/m)) {
    const fields: ValueMap = new Map();
    for (const line of paragraph.split("\n")) {
      const [, key, value] = /^(.*?): (.*)$/.exec(line) ?? [];
      if (key !== undefined && value.trim() !== "") fields.set(key.toLowerCase(), value);
    }
    const name = fields.get("package");
    if (typeof name === "string") packages.set(name, fields);
  }
  return packages;
}
