/**
 * Opens entries of directories that are open themselves, so that nobody can exchange what a path names between two
 * calls. What is opened with `O_PATH` can neither be read nor written, only named: as `/proc/self/fd/<number>`. Only
 * for threads that may use FFI, and for Linux. Source: open(2), openat2(2), readlinkat(2), proc_pid_fd(5);
 * `linux/openat2.h`.
 * @module
 */

import { cString } from "./c_string.ts";
import { cLibrary } from "./c_library.ts";

const SYMBOLS = {
  // Of its variants that of openat2, which older C libraries do not have.
  syscall: { parameters: ["i64", "i64", "buffer", "buffer", "usize"], result: "i64" },
  openat: { parameters: ["i32", "buffer", "i32"], result: "i32" },
  readlinkat: { parameters: ["i32", "buffer", "buffer", "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS, ["syscall", "openat", "close"]);

const AT_FDCWD = -100;
const isArm = Deno.build.arch === "aarch64";
const O_PATH = 0o10000000, O_CLOEXEC = 0o2000000;
const O_DIRECTORY = isArm ? 0o40000 : 0o200000, O_NOFOLLOW = isArm ? 0o100000 : 0o400000;
/** The same on all architectures. */
const OPENAT2 = 437n;
const RESOLVE_NO_SYMLINKS = 0x04n;

/** `struct open_how`, for a directory and for anything. */
const HOW = [O_PATH | O_CLOEXEC | O_NOFOLLOW, O_PATH | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY].map((flags) =>
  new Uint8Array(BigUint64Array.of(BigInt(flags), 0n, RESOLVE_NO_SYMLINKS).buffer)
);

/** How a path is opened, and what is refused there. */
export interface Opening {
  /**
   * Whether anything but a directory is an error.
   * @default {false}
   */
  readonly directory?: boolean;
}

/**
 * Opens what is at `path`, a link itself as well, if no link is on the way.
 * @returns The descriptor; negative if there is a link, or the system refuses for another reason.
 */
export function openWithoutLinks(path: string, { directory = false }: Opening = {}): number {
  const how = HOW[directory ? 1 : 0];
  return Number(libc().syscall(OPENAT2, BigInt(AT_FDCWD), cString(path), how, BigInt(how.length)));
}

/**
 * Opens the entry `name` of a directory, a link itself as well.
 * @param directory A descriptor.
 * @returns The descriptor; negative if the system refuses.
 */
export function openEntry(directory: number, name: string, opening: Opening = {}): number {
  const only = opening.directory === true ? O_DIRECTORY : 0;
  return libc().openat(directory, cString(name), O_PATH | O_CLOEXEC | O_NOFOLLOW | only);
}

/** Where the link leads that `fd` is; `undefined` if it is none. */
export function linkText(fd: number): string | undefined {
  const text = new Uint8Array(4096);
  const length = Number(libc().readlinkat(fd, cString(""), text, BigInt(text.length)));
  return length < 0 ? undefined : new TextDecoder().decode(text.subarray(0, length));
}

/** Closes a descriptor of this file. */
export function closeEntry(fd: number): void {
  libc().close(fd);
}
