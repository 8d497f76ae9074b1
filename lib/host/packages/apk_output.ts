/**
 * Parsers for the output of apk. Pure functions over text.
 * Source: Salt 3006, `salt/modules/apkpkg.py`; apk(8).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { PackageLister, type PackageVersions } from "./package_list.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** Name and version of `musl-utils-1.2.3-r4`. */
export function splitPackage(full: string): readonly [name: string, version: string] {
  const parts = full.split("-");
  return [parts.slice(0, -2).join("-"), parts.slice(-2).join("-")];
}

/** The packages of `apk info -v`. */
export function parseApkInstalled(text: string): PackageVersions {
  const packages = new PackageLister();
  for (const line of text.split("\n")) {
    if (line !== "") packages.add(...splitPackage(line));
  }
  return packages.done();
}

/** The packages of `apk upgrade -s` with their new versions: `(1/2) Upgrading musl (1.2.3-r4 -> 1.2.3-r5)`. */
export function parseApkUpgrades(text: string): ValueMap {
  return new Map(
    splitLines(text).map((line) => line.split(" ")).filter((words) => words.includes("Upgrading") && words.length > 5)
      .map((words): [Value, Value] => [words[2], rstripChars(words[5], ")")]),
  );
}
