/**
 * The modification times of all files of a backend, and what changed since the last time:
 * `<cachedir>/<backend>/mtime_map`, a line `path:seconds` for each file, as Salt has it. Source: Salt 3008.3
 * `salt/fileserver/roots.py` update, `salt/fileserver/__init__.py` generate_mtime_map.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { compareStrings, floatRepr, map, type ValueMap } from "#lib/values/value.ts";
import { isGone } from "#lib/os/deno_texts.ts";

/** Seconds since the epoch, by path. */
export type MtimeMap = ReadonlyMap<string, number>;

/**
 * The files below `roots` that `ignores` does not leave out. Links to directories are not entered; a link to a file
 * counts.
 */
export async function readMtimes(roots: readonly string[], ignores: (path: string) => boolean): Promise<MtimeMap> {
  const mtimes = new Map<string, number>();
  const waiting = [...roots].reverse();
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const { name, isDirectory } of await entriesOf(directory)) {
      const path = directory.endsWith("/") ? directory + name : `${directory}/${name}`;
      if (isDirectory) {
        waiting.push(path);
        continue;
      }
      if (ignores(path)) continue;
      const info = await statOf(path);
      if (info !== undefined && !info.isDirectory) mtimes.set(path, (info.mtime?.getTime() ?? 0) / 1000);
    }
  }
  return mtimes;
}

/** The data of an update's event: changed, removed and added files. */
export function mtimeChanges(old: MtimeMap, now: MtimeMap, backend: string): ValueMap {
  const changed = [...old].filter(([path, time]) => (now.get(path) ?? time) !== time).map(([path]) => path);
  const removed = [...old.keys()].filter((path) => !now.has(path));
  const added = [...now.keys()].filter((path) => !old.has(path));
  return map({
    changed: changed.length + removed.length + added.length > 0,
    files: {
      changed: changed.sort(compareStrings),
      removed: removed.sort(compareStrings),
      added: added.sort(compareStrings),
    },
    backend,
  });
}

/** The map in the file `path`; empty if there is none. Lines that are not entries are left out. */
export async function loadMtimes(path: string): Promise<MtimeMap> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (isGone(error)) return new Map();
    throw error;
  }
  const entries = text.split("\n").map((line): [string, number] => {
    const colon = line.lastIndexOf(":");
    return [line.slice(0, colon), colon < 0 ? NaN : Number(line.slice(colon + 1))];
  });
  return new Map(entries.filter(([, time]) => !Number.isNaN(time)));
}

/** Writes the map to the file `path`, whole. */
export async function storeMtimes(path: string, times: MtimeMap): Promise<void> {
  await Deno.mkdir(dirName(path), { recursive: true });
  const temporary = `${path}.${crypto.randomUUID().slice(0, 8)}`;
  await Deno.writeTextFile(temporary, [...times].map(([file, time]) => `${file}:${floatRepr(time)}\n`).join(""));
  await Deno.rename(temporary, path);
}

async function entriesOf(path: string): Promise<Deno.DirEntry[]> {
  try {
    return await Array.fromAsync(Deno.readDir(path));
  } catch {
    return []; // Salt skips what cannot be read
  }
}

async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch {
    return undefined; // a link that leads nowhere
  }
}
