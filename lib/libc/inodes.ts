/**
 * Functions of the C library for files that Deno does not have: times in nanoseconds, special files, extended
 * attributes, all facts of a file system. Only for threads that may use FFI, and for Linux on 64 bits. Source:
 * statx(2), mknod(2), statvfs(3), listxattr(2); `linux/stat.h`.
 * @module
 */

import { cString } from "./c_string.ts";
import { cLibrary } from "./c_library.ts";
import { LibcError } from "#lib/errors.ts";

const SYMBOLS = {
  statx: { parameters: ["i32", "buffer", "i32", "u32", "buffer"], result: "i32", optional: true },
  statvfs: { parameters: ["buffer", "buffer"], result: "i32", optional: true },
  // Of its variants those with up to four numbers and addresses. Older C libraries have no mknod to call.
  syscall: { parameters: ["i64", "i64", "buffer", "i64", "i64"], result: "i64", optional: true },
  listxattr: { parameters: ["buffer", "buffer", "usize"], result: "isize", optional: true },
  getxattr: { parameters: ["buffer", "buffer", "buffer", "usize"], result: "isize", optional: true },
  setxattr: { parameters: ["buffer", "buffer", "buffer", "usize", "i32"], result: "i32", optional: true },
} as const;

const libc = cLibrary(SYMBOLS);

const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BASIC_STATS = 0x7ff;

/** The times of a file, in seconds since the epoch, as Python's floats. */
export interface FileTimes {
  readonly atime: number;
  readonly mtime: number;
  readonly ctime: number;
}

/** The times of the file `path`, or of a link itself; `undefined` if the system does not report it. */
export function fileTimes(path: string, { follow }: { readonly follow: boolean }): FileTimes | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const buffer = new Uint8Array(256);
  const flags = follow ? 0 : AT_SYMLINK_NOFOLLOW;
  if ((libc().statx?.(AT_FDCWD, cString(path), flags, STATX_BASIC_STATS, buffer) ?? -1) !== 0) return undefined;
  const view = new DataView(buffer.buffer);
  // Python multiplies the nanoseconds, which gives the same float.
  const time = (at: number) => Number(view.getBigInt64(at, true)) + view.getUint32(at + 8, true) * 1e-9;
  return { atime: time(64), ctime: time(96), mtime: time(112) };
}

/** POSIX's data of a file system. */
export interface FileSystemFacts {
  readonly bsize: number;
  readonly frsize: number;
  readonly blocks: number;
  readonly bfree: number;
  readonly bavail: number;
  readonly files: number;
  readonly ffree: number;
  readonly favail: number;
  readonly flag: number;
  readonly namemax: number;
}

/** The facts of the file system that `path` is in; `undefined` if there is no such path. */
export function fileSystemFacts(path: string): FileSystemFacts | undefined {
  const buffer = new BigUint64Array(24);
  if ((libc().statvfs?.(cString(path), new Uint8Array(buffer.buffer)) ?? -1) !== 0) return undefined;
  const [bsize, frsize, blocks, bfree, bavail, files, ffree, favail, , flag, namemax] = Array.from(buffer, Number);
  return { bsize, frsize, blocks, bfree, bavail, files, ffree, favail, flag, namemax };
}

/** The number of the system call mknodat. */
const MKNODAT = Deno.build.arch === "aarch64" ? 33n : 259n;
const S_IFCHR = 0o020000, S_IFBLK = 0o060000, S_IFIFO = 0o010000;

/** What kind of special file, with the device's numbers. */
export type DeviceNode =
  | { readonly kind: "fifo" }
  | { readonly kind: "char" | "block"; readonly major: number; readonly minor: number };

/**
 * Makes the special file `path`; the umask takes bits off `mode`.
 * @throws {LibcError} If the system refuses.
 */
export function makeNode(path: string, node: DeviceNode, mode: number): void {
  const type = node.kind === "fifo" ? S_IFIFO : node.kind === "char" ? S_IFCHR : S_IFBLK;
  const device = node.kind === "fifo" ? 0n : makeDevice(node.major, node.minor);
  const status = libc().syscall?.(MKNODAT, BigInt(AT_FDCWD), cString(path), BigInt(mode | type), device) ?? -1n;
  if (status !== 0n) throw new LibcError("mknod");
}

/** The device number of `major` and `minor`: glibc's makedev. */
function makeDevice(major: number, minor: number): bigint {
  const [high, low] = [BigInt(major), BigInt(minor)];
  return ((high & 0xfffff000n) << 32n) | ((high & 0xfffn) << 8n) | ((low & 0xffffff00n) << 12n) | (low & 0xffn);
}

/** The device's major and minor number out of a device number. */
export function deviceNumbers(device: number): readonly [major: number, minor: number] {
  const all = BigInt(device);
  const major = ((all >> 32n) & 0xfffff000n) | ((all >> 8n) & 0xfffn);
  const minor = ((all >> 12n) & 0xffffff00n) | (all & 0xffn);
  return [Number(major), Number(minor)];
}

/** The kernel's maximum of all names of attributes of a file, and of one value. */
const MAX_BYTES = 65_536;

/**
 * Copies the extended attributes of the file `from` to `to`, access control lists and labels among them, as far as the
 * file system and this process's rights allow: Python's `copystat` does not fail either.
 */
export function copyAttributes(from: string, to: string): void {
  const { listxattr, getxattr, setxattr } = libc();
  if (!listxattr || !getxattr || !setxattr) return;
  const [source, target] = [cString(from), cString(to)];
  const names = new Uint8Array(MAX_BYTES);
  const length = Number(listxattr(source, names, BigInt(names.length)));
  if (length <= 0) return;
  const value = new Uint8Array(MAX_BYTES);
  for (const name of new TextDecoder().decode(names.subarray(0, length)).split("\0")) {
    if (name === "") continue;
    const size = Number(getxattr(source, cString(name), value, BigInt(value.length)));
    if (size >= 0) setxattr(target, cString(name), value, BigInt(size), 0);
  }
}
