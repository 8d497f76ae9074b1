/**
 * Watches of files and directory trees by inotify: it waits for the kernel, follows moved directories, watches new
 * ones, and says when reports were lost or the kernel has no room for more watches.
 * Source: inotify(7).
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { Inotify, INOTIFY_MASKS, type InotifyEvent } from "#lib/libc/inotify.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { kindOf } from "#lib/os/file_kind.ts";
import { waitForDescriptor } from "#lib/sockets/epoll.ts";
import type { DescriptorWait } from "#lib/sockets/wait.ts";

/** How one path is watched. */
export interface FileWatchOptions {
  /** Bits of `INOTIFY_MASKS` that are reported. */
  readonly mask: number;
  /** Whether directories below are watched too. */
  readonly recurse: boolean;
  /** Whether directories that appear later are watched too. */
  readonly autoAdd: boolean;
  /** Whether a directory is left out, with all below it. */
  readonly excludes: (path: string) => boolean;
}

/** One report about a path. */
export interface FileEvent {
  /** The path as it was given to watch, of which this is a part. */
  readonly root: string;
  /** The watched directory or file. */
  readonly watched: string;
  /** What it is about: the entry of a watched directory, or the watched path itself. */
  readonly path: string;
  /** Bits of `INOTIFY_MASKS`. */
  readonly mask: number;
  /** The same for the two ends of a move; 0 for other reports. */
  readonly cookie: number;
}

/** What a {@linkcode FileWatches} reports to. */
export interface WatchListener {
  /** Reports, in the kernel's order. */
  onEvents(events: readonly FileEvent[]): void;
  /** A path that was given to watch is gone, or is another file now. */
  onGone(root: string): void;
  /** Something is not watched, or reports were lost. */
  onProblem(text: string): void;
}

interface Watch {
  readonly root: string;
  path: string;
  readonly options: FileWatchOptions;
}

const { create, moved_from, moved_to, ignored, overflow, isdir } = INOTIFY_MASKS;
/** What it needs itself, to follow a tree. */
const TREE = create | moved_from | moved_to;
/** The bits of a report that say what happened; the others say how. */
const HAPPENED = 0xffff;
const LIMIT_FILE = "/proc/sys/fs/inotify/max_user_watches";

/** Watches of any number of paths, by one inotify instance. */
export class FileWatches {
  readonly #inotify = new Inotify();
  readonly #wait: DescriptorWait;
  readonly #listener: WatchListener;
  readonly #watches = new Map<number, Watch>();
  readonly #numbers = new Map<string, number>();
  #limitNamed = false;
  #closed = false;

  /** @throws {LibcError} If the kernel has no room for another instance. */
  constructor(listener: WatchListener) {
    this.#listener = listener;
    this.#wait = waitForDescriptor(this.#inotify.fd);
    void this.#serve();
  }

  /** Number of watched files and directories. */
  get size(): number {
    return this.#watches.size;
  }

  /**
   * Watches a path.
   * @returns Whether it is there and watched now.
   */
  add(root: string, options: FileWatchOptions): boolean {
    return this.#addTree({ root, path: root, options }) !== undefined;
  }

  /** @returns The events of entries that were there before the watch of their directory; `undefined`: not watched. */
  #addTree(watch: Watch, found: FileEvent[] = []): FileEvent[] | undefined {
    const { path, options } = watch;
    const kind = kindOf(path);
    const follows = options.recurse || options.autoAdd;
    const mask = kind === "directory" && follows ? options.mask | TREE : options.mask;
    const number = this.#inotify.watch(path, mask);
    if (number < 0) return this.#reportRefusal(path);
    this.#forgetPath(path, number);
    this.#watches.set(number, watch);
    this.#numbers.set(path, number);
    if (kind === "directory" && options.recurse) {
      for (const below of directoriesIn(path)) {
        this.#addBelow(watch, below);
      }
    }
    return found;
  }

  #addBelow(parent: Watch, path: string): void {
    if (!parent.options.excludes(path)) this.#addTree({ ...parent, path });
  }

  #reportRefusal(path: string): undefined {
    if (kindOf(path) === "nothing" || this.#limitNamed) return undefined;
    this.#limitNamed = true;
    const limit = readLimit();
    this.#listener.onProblem(
      this.#watches.size + 1 >= limit
        ? `${path} is not watched: the kernel allows a user ${limit} watches (fs.inotify.max_user_watches)`
        : `${path} is not watched: the kernel refused the watch after ${this.#watches.size} others; it allows a user ` +
          `${limit} watches (fs.inotify.max_user_watches), and the file must be readable`,
    );
    return undefined;
  }

  #forgetPath(path: string, now: number): void {
    const before = this.#numbers.get(path);
    if (before === undefined || before === now) return;
    this.#watches.delete(before);
    this.#inotify.unwatch(before);
  }

  async #serve(): Promise<void> {
    while (!this.#closed) {
      await this.#wait.wait(-1);
      if (this.#closed) break;
      try {
        this.#deliver(this.#inotify.read());
      } catch (error) {
        this.#listener.onProblem(`A report of the kernel was not handled: ${messageOf(error)}`);
      }
    }
    this.#inotify.close();
  }

  #deliver(events: readonly InotifyEvent[]): void {
    const reported: FileEvent[] = [], gone: string[] = [];
    for (const event of events) {
      if ((event.mask & overflow) !== 0) {
        this.#listener.onProblem("The kernel lost reports: more came than it keeps (fs.inotify.max_queued_events)");
        gone.push(...this.#rescan());
        continue;
      }
      const watch = this.#watches.get(event.watch);
      if (watch === undefined) continue;
      reported.push(...this.#report(event, watch));
      if ((event.mask & ignored) === 0) continue;
      this.#forget(event.watch, watch);
      if (watch.path === watch.root) gone.push(watch.root);
    }
    if (reported.length > 0) this.#listener.onEvents(reported);
    for (const root of gone) this.#listener.onGone(root);
  }

  #report(event: InotifyEvent, watch: Watch): FileEvent[] {
    const { root, path: watched, options } = watch;
    const path = event.name === "" ? watched : `${watched === "/" ? "" : watched}/${event.name}`;
    const wanted = (options.mask & event.mask & HAPPENED) !== 0;
    const own: FileEvent[] = wanted ? [{ root, watched, path, mask: event.mask, cookie: event.cookie }] : [];
    if ((event.mask & isdir) === 0 || event.name === "") return own;
    if ((event.mask & moved_from) !== 0) this.#dropTree(path);
    const isNew = (event.mask & (create | moved_to)) !== 0;
    if (!isNew || !options.autoAdd || options.excludes(path)) return own;
    this.#addTree({ ...watch, path });
    // What was made in a new directory before it was watched has no report of its own.
    if ((event.mask & create) !== 0 && (options.mask & create) !== 0) own.push(...this.#madeBefore(watch, path));
    return own;
  }

  *#madeBefore(watch: Watch, directory: string): Generator<FileEvent> {
    const { root, options } = watch;
    for (const { name, isDirectory } of entriesIn(directory)) {
      const path = `${directory}/${name}`;
      if (options.excludes(path)) continue;
      yield { root, watched: directory, path, mask: isDirectory ? create | isdir : create, cookie: 0 };
      if (!isDirectory) continue;
      this.#addTree({ ...watch, path });
      yield* this.#madeBefore(watch, path);
    }
  }

  /**
   * After lost reports: directories that were made meanwhile are watched.
   * @returns The paths given to watch that are gone.
   */
  #rescan(): string[] {
    const roots = [...this.#watches].filter(([, watch]) => watch.path === watch.root);
    return roots.flatMap(([number, watch]) => {
      if (this.#addTree(watch) !== undefined) return [];
      this.#forget(number, watch);
      return [watch.root];
    });
  }

  #dropTree(path: string): void {
    for (const [other, number] of [...this.#numbers]) {
      if (other !== path && !other.startsWith(`${path}/`)) continue;
      this.#numbers.delete(other);
      this.#watches.delete(number);
      this.#inotify.unwatch(number);
    }
  }

  #forget(number: number, { path }: Watch): void {
    this.#watches.delete(number);
    if (this.#numbers.get(path) === number) this.#numbers.delete(path);
  }

  /** Ends all watches. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wait.close();
  }
}

/** The names of the bits of a report, as pyinotify writes them: `IN_CREATE|IN_ISDIR`. */
export function maskName(mask: number): string {
  const names = Object.entries(INOTIFY_MASKS)
    .filter(([, bit]) => (mask & bit) !== 0)
    .map(([name]) => name === "overflow" ? "IN_Q_OVERFLOW" : `IN_${name.toUpperCase()}`);
  return names.join("|");
}

function readLimit(): number {
  return Number(readTextFileIfExists(LIMIT_FILE) ?? Infinity);
}

function entriesIn(directory: string): readonly Deno.DirEntry[] {
  try {
    return Array.from(Deno.readDirSync(directory));
  } catch (error) {
    const isGone = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
      error instanceof Deno.errors.PermissionDenied;
    if (isGone) return [];
    throw error;
  }
}

function directoriesIn(directory: string): string[] {
  return entriesIn(directory).filter((entry) => entry.isDirectory)
    .map(({ name }) => `${directory === "/" ? "" : directory}/${name}`);
}
