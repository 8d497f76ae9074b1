/**
 * Files of RPM packages: those that were downloaded, and how the files of a host differ from those in them.
 * Source: Salt 3008.3, `salt/modules/yumpkg.py`, `salt/modules/zypperpkg.py`.
 * @module
 */

import * as rpm from "./rpm.ts";
import { isDirectory, lexists } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

function rpmFiles(directory: string): string[] {
  if (!isDirectory(directory)) return [];
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory: isNested, isFile }) =>
    isNested ? rpmFiles(`${directory}/${name}`) : isFile && name.endsWith(".rpm") ? [`${directory}/${name}`] : []
  );
}

/** The files of packages below a directory, by name and version. */
export async function downloadedPackages(directory: string, context: JobContext): Promise<ValueMap> {
  const packages = new Map<string, ValueMap>();
  for (const path of rpmFiles(directory)) {
    const info = await rpm.packageFileInfo(path, "base", context);
    if (info === undefined) continue;
    const { size, ctime, mtime } = Deno.statSync(path);
    const seconds = Math.floor((ctime ?? mtime ?? new Date(0)).getTime() / 1000);
    const record = map({
      path,
      size,
      creation_date_time_t: seconds,
      creation_date_time: new Date(seconds * 1000).toISOString().slice(0, 19),
    });
    packages.set(info.name, (packages.get(info.name) ?? new Map()).set(info.version, record));
  }
  return new Map(packages);
}

/**
 * The differences of files to those in their packages.
 * @param options.download Downloads packages.
 * @returns Their files by name.
 */
export async function diffPackageFiles(
  paths: readonly string[],
  root: Value | undefined,
  { download, context }: {
    readonly download: (names: readonly string[]) => Promise<ValueMap>;
    readonly context: JobContext;
  },
): Promise<ValueMap> {
  const changes: ValueMap = new Map();
  const owned = new Map<string, string[]>();
  for (const path of paths) {
    const name = str(await rpm.ownersOf([path], root, context));
    if (name === "") changes.set(path, lexists(path) ? "Not managed" : "N/A");
    else owned.set(name, [...owned.get(name) ?? [], path]);
  }
  if (owned.size === 0) return changes;
  const files = await download([...owned.keys()]);
  for (const [name, paths] of owned) {
    const info = files.get(name) ?? "";
    const file = isMap(info) ? info.get("path") ?? "" : info;
    for (const path of paths) {
      const differences = await context.call("lowpkg.diff", [file, path]);
      changes.set(path, truthy(differences) ? differences : "Unchanged");
    }
  }
  return changes;
}
