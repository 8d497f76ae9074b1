/**
 * A file that others append to: gives what is added, also when the file is cut, rotated away or made anew. The kernel
 * tells when there is something to read; nothing is polled.
 * @module
 */

import { FileWatches } from "./file_watches.ts";
import { INOTIFY_MASKS } from "#lib/libc/inotify.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** What a {@linkcode FollowedFile} reports to. */
export interface FollowedListener {
  /** Bytes that were added. */
  onBytes(bytes: Uint8Array): void;
  /** The file is another one now, or was cut: what comes next is its beginning. */
  onRestart(): void;
  /** It cannot be followed now. */
  onProblem(text: string): void;
}

const { modify, attrib, move_self, delete_self, create, moved_to } = INOTIFY_MASKS;
/** Bytes of one read. */
const CHUNK = 1 << 16;
/** A rotated file is looked for again after this time, in milliseconds, if the kernel's report came too early. */
const LATER_MS = 200;

/** Follows one file from its present end; a file that appears later, from its beginning. */
export class FollowedFile {
  readonly #path: string;
  readonly #listener: FollowedListener;
  readonly #watches: FileWatches;
  #file: Deno.FsFile | undefined;
  /** Of the open file; 0, which no file has: none is open. */
  #inode = 0;
  #at = 0;
  #timer: Timer | undefined;
  readonly #chunk = new Uint8Array(CHUNK);

  /** @throws {LibcError} If the kernel has no room for another inotify instance. */
  constructor(path: string, listener: FollowedListener) {
    this.#path = path;
    this.#listener = listener;
    this.#watches = new FileWatches({
      onEvents: () => this.#look(),
      onGone: () => this.#lookLater(),
      onProblem: (text) => listener.onProblem(text),
    });
    this.#open("end");
    const directory = path.replace(/\/[^/]*$/, "") || "/";
    const options = { recurse: false, autoAdd: false, excludes: () => false };
    if (!this.#watches.add(directory, { ...options, mask: create | moved_to }) && !isDirectory(directory)) {
      listener.onProblem(`${directory} is no directory`);
    }
  }

  #open(from: "end" | "start"): void {
    this.#file?.close();
    this.#file = undefined;
    this.#inode = 0;
    try {
      this.#file = Deno.openSync(this.#path);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied)) throw error;
      const why = error instanceof Deno.errors.NotFound ? "No such file or directory" : "Permission denied";
      if (from === "end") this.#listener.onProblem(`${why}: '${this.#path}'`);
      return;
    }
    const { ino, size } = this.#file.statSync();
    this.#inode = ino ?? 0;
    this.#at = from === "end" ? size : 0;
    const mask = modify | attrib | move_self | delete_self;
    this.#watches.add(this.#path, { mask, recurse: false, autoAdd: false, excludes: () => false });
  }

  /** The name may point to another file for a moment after a rotation. */
  #lookLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#look(), LATER_MS);
  }

  #look(): void {
    this.#readAll();
    const now = statOrUndefined(this.#path);
    if (now === undefined || now.ino === this.#inode) return;
    this.#listener.onRestart();
    this.#open("start");
    this.#readAll();
  }

  #readAll(): void {
    const file = this.#file;
    if (file === undefined) return;
    if (file.statSync().size < this.#at) {
      this.#at = 0;
      this.#listener.onRestart();
    }
    file.seekSync(this.#at, Deno.SeekMode.Start);
    for (;;) {
      const length = file.readSync(this.#chunk);
      if (length === null) return;
      this.#at += length;
      this.#listener.onBytes(this.#chunk.slice(0, length));
    }
  }

  /** Ends it. May be called twice. */
  close(): void {
    clearTimeout(this.#timer);
    this.#watches.close();
    this.#file?.close();
    this.#file = undefined;
  }
}

function statOrUndefined(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}
