/**
 * The kernel's reports about files and directories: inotify(7). Only on Linux, and only for threads that may use FFI.
 * Source: the Linux manual pages inotify(7), inotify_add_watch(2); `linux/inotify.h`.
 * @module
 */

import { cString } from "./c_string.ts";
import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";

const SYMBOLS = {
  inotify_init1: { parameters: ["i32"], result: "i32" },
  inotify_add_watch: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  inotify_rm_watch: { parameters: ["i32", "i32"], result: "i32" },
  read: { parameters: ["i32", "buffer", "usize"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS, ["read", "inotify_add_watch"]);

const IN_CLOEXEC = 0o2000000, IN_NONBLOCK = 0o4000;

/** The bits of masks, by the names that Salt's configuration has. */
export const INOTIFY_MASKS = {
  access: 0x1,
  modify: 0x2,
  attrib: 0x4,
  close_write: 0x8,
  close_nowrite: 0x10,
  open: 0x20,
  moved_from: 0x40,
  moved_to: 0x80,
  create: 0x100,
  delete: 0x200,
  delete_self: 0x400,
  move_self: 0x800,
  unmount: 0x2000,
  overflow: 0x4000,
  ignored: 0x8000,
  onlydir: 0x0100_0000,
  dont_follow: 0x0200_0000,
  excl_unlink: 0x0400_0000,
  mask_add: 0x2000_0000,
  isdir: 0x4000_0000,
  oneshot: 0x8000_0000,
} as const;

/** One report. */
export interface InotifyEvent {
  /** The number of the watch; -1 for an overflow. */
  readonly watch: number;
  /** Bits of {@linkcode INOTIFY_MASKS}. */
  readonly mask: number;
  /** The same for the two ends of a move. */
  readonly cookie: number;
  /** The entry of a watched directory; empty for the watched path itself. */
  readonly name: string;
}

/** Size of a `struct inotify_event` without its name: int wd, u32 mask, u32 cookie, u32 len. */
const HEAD = 16;
/** Room for some hundred events. */
const BUFFER = 1 << 16;
const LITTLE = true;

/** One inotify instance. */
export class Inotify {
  /** The descriptor, which is readable when there are reports. */
  readonly fd: number;
  readonly #buffer = new Uint8Array(BUFFER);
  #closed = false;

  /** @throws {LibcError} If the user has too many instances (`fs.inotify.max_user_instances`). */
  constructor() {
    this.fd = libc().inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    check("inotify_init1", this.fd);
  }

  /**
   * Watches a path; one that is watched already gets this mask instead.
   * @returns The watch's number; negative if the kernel refuses.
   */
  watch(path: string, mask: number): number {
    return libc().inotify_add_watch(this.fd, cString(path), mask >>> 0);
  }

  /** Ends a watch; one that is gone is not an error. */
  unwatch(watch: number): void {
    libc().inotify_rm_watch(this.fd, watch);
  }

  /** The reports that are there now; empty if there are none. */
  read(): InotifyEvent[] {
    if (this.#closed) return [];
    const length = Number(libc().read(this.fd, this.#buffer, BigInt(BUFFER)));
    const events: InotifyEvent[] = [];
    const view = new DataView(this.#buffer.buffer);
    for (let at = 0; at + HEAD <= length;) {
      const nameBytes = view.getUint32(at + 12, LITTLE);
      const bytes = this.#buffer.subarray(at + HEAD, at + HEAD + nameBytes);
      const end = bytes.indexOf(0);
      events.push({
        watch: view.getInt32(at, LITTLE),
        mask: view.getUint32(at + 4, LITTLE),
        cookie: view.getUint32(at + 8, LITTLE),
        name: new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)),
      });
      at += HEAD + nameBytes;
    }
    return events;
  }

  /** Closes the instance and all its watches. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    libc().close(this.fd);
  }
}
