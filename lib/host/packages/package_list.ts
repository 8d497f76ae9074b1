/**
 * Lists of packages with their versions, as `pkg.list_pkgs` and `pkg.version` return them.
 * Source: Salt 3008.3, `salt/modules/pkg_resource.py`.
 * @module
 */

import { compileGlob } from "#lib/text/glob.ts";
import { compareStrings, type Value, type ValueMap } from "#lib/values/value.ts";

/** The versions of each package. */
export type PackageVersions = ReadonlyMap<string, readonly string[]>;

/** Collects the versions of packages. */
export class PackageLister {
  readonly #versions = new Map<string, string[]>();

  /** Adds an installed version. */
  add(name: string, version: string): void {
    const versions = this.#versions.get(name);
    if (versions === undefined) this.#versions.set(name, [version]);
    else versions.push(version);
  }

  /** The packages, each with its versions, sorted as text and without duplicates. */
  done(): PackageVersions {
    return new Map([...this.#versions].map(([name, all]) => [name, [...new Set(all)].sort(compareStrings)]));
  }
}

/** Packages with their versions as Salt returns them: a text with commas, or a list. */
export function asVersions(packages: PackageVersions, asList: boolean): ValueMap {
  return new Map(
    [...packages].map(([name, versions]): [Value, Value] => [name, asList ? [...versions] : versions.join(",")]),
  );
}

/** The installed packages, each with its versions as one text. */
export async function versionTexts(installed: Promise<PackageVersions>): Promise<ValueMap> {
  return asVersions(await installed, false);
}

/**
 * The versions of those packages; a name may be a glob. For one plain name the version itself, an empty text if it is
 * not installed; for several a map.
 */
export function showVersions(packages: PackageVersions, names: readonly string[], asList: boolean): Value {
  const shownVersions = new Map<string, readonly string[]>();
  for (const name of names) {
    if (!name.includes("*")) shownVersions.set(name, packages.get(name) ?? []);
    else {
      const matches = compileGlob(name);
      for (const [one, versions] of packages) if (matches(one)) shownVersions.set(one, versions);
    }
  }
  const values = asVersions(shownVersions, asList);
  const only = names.some((name) => name.includes("*"))
    ? undefined
    : values.size === 1
    ? [...values.values()][0]
    : undefined;
  return only ?? values;
}
