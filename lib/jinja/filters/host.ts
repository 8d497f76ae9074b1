/**
 * Salt's filters that look at the host: files, programs, users, dates in its time zone.
 * Source: Salt 3008.3, `salt/utils/files.py`, `salt/utils/path.py`, `salt/utils/user.py`, `salt/utils/dateutils.py`.
 * @module
 */

import { walk } from "#lib/os/disk_paths.ts";
import { joinPath, normalPath } from "#lib/os/paths.ts";
import { which } from "#lib/programs/which.ts";
import { findUser } from "#lib/os/users.ts";
import { textOf } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import type { Obj, Run } from "#lib/python/object.ts";
import { strftime } from "#lib/text/strftime.ts";
import { needBytes, needText } from "./arguments.ts";
import { isBinary } from "#lib/text/binary_data.ts";
import { readDate } from "./dates.ts";

/** The first bytes of a file; `undefined` if it cannot be read. */
function beginning(path: Obj, max: number): Uint8Array | undefined {
  try {
    using file = Deno.openSync(needText(path));
    const bytes = new Uint8Array(max);
    return bytes.subarray(0, file.readSync(bytes) ?? 0);
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

/** The errors that Python calls OSError, without missing permissions of this code. */
function isFileError(error: unknown): boolean {
  return error instanceof Error && !(error instanceof Deno.errors.NotCapable) &&
    ("code" in error || Object.values(Deno.errors).some((kind) => error instanceof kind));
}

function isEmpty(path: string): boolean {
  try {
    return Deno.statSync(path).size === 0;
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

function isRegularFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (isFileError(error)) return false;
    throw error;
  }
}

/** The directory itself and every path below it. */
function listFiles(directory: string): string[] {
  const paths = new Set([directory]);
  for (const { path, directories, files } of walk(directory)) {
    for (const name of [...files, ...directories]) paths.add(joinPath(path, name));
  }
  return [...paths];
}

/** Salt's `path_join`: later absolute paths count as relative ones. */
function joinPaths(first: string, more: readonly string[]): string {
  return normalPath(joinPath(normalPath(first), ...more.map((part) => normalPath(part).replace(/^\/+/, ""))));
}

function partOf(part: Obj): string {
  return textOf(part) ?? new TextDecoder().decode(needBytes(part));
}

const strftimeFilter: Run = native("strftime", [["date", null], ["format", "%Y-%m-%d"]], ([date, format]) => {
  return strftime(readDate(date), needText(format));
});

/** The filters by name. */
export const HOST_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  ["is_empty", native("is_empty", ["filename"], ([path]) => isEmpty(needText(path)))],
  [
    "is_text_file",
    native("is_text", ["fp_", ["blocksize", 512]], ([path, size]) => {
      const bytes = beginning(path, Number(size));
      return bytes !== undefined && !isBinary(bytes);
    }),
  ],
  [
    "is_bin_file",
    native("is_binary", ["path"], ([path]) => {
      return isRegularFile(needText(path)) && isBinary(beginning(path, 2048) ?? new Uint8Array());
    }),
  ],
  ["list_files", native("list_files", ["directory"], ([directory]) => listFiles(needText(directory)))],
  ["which", native("which", [["exe", null]], ([name]) => name === null ? null : which(needText(name)) ?? null)],
  [
    "path_join",
    native("join", ["path", "*args", "**kwargs"], ([path], { rest }) => joinPaths(partOf(path), rest.map(partOf))),
  ],
  [
    "get_uid",
    native("get_uid", [["user", null]], ([user]) => {
      return (user === null ? Deno.uid() : findUser(needText(user))?.uid) ?? null;
    }),
  ],
  ["date_format", strftimeFilter],
  ["strftime", strftimeFilter],
]);
