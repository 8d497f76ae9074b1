/**
 * The status of a file, as `file.stats` and `file.lstat` return it. Source: Salt 3008.3, `salt/modules/file.py` stats.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { fileTimes } from "#lib/libc/inodes.ts";
import { findGroup, findUser } from "#lib/os/users.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { absolutePath } from "#lib/os/paths.ts";

/** The facts of one file. */
export interface FileStatus {
  readonly inode: number;
  readonly uid: number;
  readonly gid: number;
  /** The group's name, or its number. */
  readonly group: string | number;
  /** The owner's name, or the number. */
  readonly user: string | number;
  /** Times in seconds since the epoch. */
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
  readonly size: number;
  /** Octal digits, at least four. */
  readonly mode: string;
  readonly type: FileType;
  /** The path without links, or made absolute if links are not followed. */
  readonly target: string;
}

/** Salt's words for the types of files. */
export type FileType = "file" | "dir" | "char" | "block" | "link" | "pipe" | "socket";

/** What kind of file `info` is of. */
export function fileType(info: Deno.FileInfo): FileType {
  if (info.isDirectory) return "dir";
  if (info.isSymlink) return "link";
  if (info.isCharDevice === true) return "char";
  if (info.isBlockDevice === true) return "block";
  if (info.isFifo === true) return "pipe";
  return info.isSocket === true ? "socket" : "file";
}

/** Seconds since the epoch of a date of Deno's, which has milliseconds. */
function seconds(date: Date | null): number {
  return (date?.getTime() ?? 0) / 1000;
}

/** The times of the file of `info`: in nanoseconds where the C library may be called, else in milliseconds. */
export function timesOf(
  path: string,
  { info, follow }: { readonly info: Deno.FileInfo; readonly follow: boolean },
): { readonly atime: number; readonly mtime: number; readonly ctime: number } {
  const mayCall = Deno.permissions.querySync({ name: "ffi" }).state === "granted";
  const exact = mayCall ? fileTimes(path, { follow }) : undefined;
  return exact ?? { atime: seconds(info.atime), mtime: seconds(info.mtime), ctime: seconds(info.ctime) };
}

/**
 * The status of the file at `path`; of a dangling link, its own.
 * @param options.follow Whether links are followed.
 * @default {true}
 * @throws {CommandError} If there is nothing.
 */
export function fileStatus(path: string, { follow = true }: { readonly follow?: boolean } = {}): FileStatus {
  const target = follow ? read(path, Deno.statSync) : undefined;
  const info = target ?? read(path, Deno.lstatSync);
  if (info === undefined) throw new CommandError(`Path not found: ${path}`);
  const [uid, gid] = [info.uid ?? 0, info.gid ?? 0];
  // These, and names, cost more than the rest, and few ask for them.
  let times: ReturnType<typeof timesOf> | undefined;
  const timesNow = () => times ??= timesOf(path, { info, follow: target !== undefined });
  return {
    inode: info.ino ?? 0,
    uid,
    gid,
    get group() {
      return findGroup(gid)?.name ?? gid;
    },
    get user() {
      return findUser(uid)?.name ?? uid;
    },
    get atime() {
      return timesNow().atime;
    },
    get mtime() {
      return timesNow().mtime;
    },
    get ctime() {
      return timesNow().ctime;
    },
    size: info.size,
    mode: ((info.mode ?? 0) & 0o7777).toString(8).padStart(4, "0"),
    type: fileType(info),
    get target() {
      return follow ? realPath(path) : absolutePath(path);
    },
  };
}

function read(path: string, stat: (path: string) => Deno.FileInfo): Deno.FileInfo | undefined {
  try {
    return stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return undefined;
  }
}
