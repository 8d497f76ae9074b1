/**
 * The files that processes have open, from `/proc`: `file.open_files`.
 * Source: Salt 3008.3, `salt/modules/file.py` open_files; proc(5).
 * @module
 */

import { existsOrThrow } from "#lib/os/file_kind.ts";
import { compare, type Value } from "#lib/values/value.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { joinPath } from "#lib/os/paths.ts";

function namesIn(path: string): string[] {
  try {
    return [...Deno.readDirSync(path)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return []; // the process has ended
  }
}

/** The paths that a process has open, and its programs'. */
function filesOf(pid: number): string[] {
  const process = `/proc/${pid}`;
  const links = namesIn(`${process}/fd`).map((name) => joinPath(`${process}/fd`, name));
  for (const task of namesIn(`${process}/task`)) links.push(joinPath(`${process}/task`, task, "exe"));
  return [...new Set(links.map((link) => realPath(link)))].filter(existsOrThrow);
}

/** Pids by file, or with `byPid` files by pid. */
export function listOpenFiles(byPid: boolean): Map<Value, Value> {
  const files = new Map<Value, Value[]>(), pids = new Map<Value, Value[]>();
  for (const pid of namesIn("/proc").filter((name) => /^\d+$/.test(name)).map(Number)) {
    const open = filesOf(pid);
    pids.set(pid, [...open].sort(compare));
    for (const path of open) files.set(path, [...files.get(path) ?? [], pid]);
  }
  return byPid ? pids : files;
}
