/**
 * Files and directories that root holds open while it changes them, because another user may exchange what their names
 * lead to: in a directory of that user, root would give away or overwrite any file behind a link that was made in the
 * right moment. A held object has a path of its own, `/proc/self/fd/<number>`, that leads to it whatever happens to its
 * name.
 *
 * A link of another user's, or in a directory of another user's, is followed only to what belongs to that user: every
 * other target would be that user's choice.
 *
 * Only root on Linux with `/proc`, in threads that may use FFI, holds anything. For others the paths are the given
 * ones: a user who is not root can give nothing away, and other threads have no right to write where users are.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { baseName, dirName } from "./paths.ts";
import { CommandError } from "#lib/errors.ts";
import { closeEntry, linkText, openEntry, openWithoutLinks } from "#lib/libc/at_calls.ts";

/** The kernel's maximum number of links in one path. */
const MAX_LINKS = 40;

/** Whether this thread holds what it changes; found out once. */
let holds: boolean | undefined;

function mayHold(): boolean {
  return holds ??= Deno.build.os === "linux" && isAllowed("sys") && Deno.uid() === 0 && isAllowed("ffi") && hasProc();
}

function isAllowed(name: "sys" | "ffi"): boolean {
  return Deno.permissions.querySync({ name }).state === "granted";
}

function hasProc(): boolean {
  try {
    return Deno.statSync("/proc/self/fd").isDirectory;
  } catch {
    return false;
  }
}

/** A file, directory or link that is held until it is disposed of. */
export class Held implements Disposable {
  readonly #fd: number | undefined;
  /**
   * A path of the object, whatever its name leads to by now. For a link: of the link itself; reading and changing it
   * does not follow it.
   */
  readonly path: string;

  /** @param entry Its descriptor, or its path if it is not held. */
  constructor(entry: number | string) {
    this.#fd = typeof entry === "number" ? entry : undefined;
    this.path = typeof entry === "number" ? `/proc/self/fd/${entry}` : entry;
  }

  /** Its path for another process of root's, as long as it is held. For a directory, also to be changed to. */
  get pathForPrograms(): string {
    return this.#fd === undefined ? this.path : `/proc/${Deno.pid}/fd/${this.#fd}`;
  }

  /**
   * Its status.
   * @throws What Deno throws, if it is not held and not there.
   */
  status(): Deno.FileInfo {
    // The path of a held object is a link of the kernel's, behind which nothing is followed.
    return this.#fd === undefined ? Deno.lstatSync(this.path) : Deno.statSync(this.path);
  }

  /** Runs `act`; the errors of its calls name the object as `shown`. */
  run<T>(shown: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (this.#fd !== undefined && error instanceof Error) {
        error.message = error.message.replaceAll(`'${this.path}'`, () => `'${shown}'`);
      }
      throw error;
    }
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeEntry(this.#fd);
  }
}

/** A directory that is held: its entries stay its entries, whatever its own name leads to. */
export class HeldDirectory extends Held {
  readonly #fd: number | undefined;
  readonly #shown: string;

  /** @param shown Its name, for errors. */
  constructor(entry: number | string, shown: string) {
    super(entry);
    this.#fd = typeof entry === "number" ? entry : undefined;
    this.#shown = shown;
  }

  /**
   * The path of the entry `name`, for calls that follow no link there: create anew, rename, remove, make a directory or
   * a link.
   */
  at(name: string): string {
    return this.path.endsWith("/") ? this.path + name : `${this.path}/${name}`;
  }

  /**
   * Holds the entry `name`, a link itself as well.
   * @throws What Deno throws if there is none.
   */
  hold(name: string): Held {
    if (this.#fd === undefined) return new Held(this.at(name));
    return new Held(openOrThrow(this.#fd, name));
  }

  /** As {@linkcode hold}; `undefined` if there is none. */
  find(name: string): Held | undefined {
    try {
      const entry = this.hold(name);
      entry.status();
      return entry;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  }

  /**
   * Holds the directory `name` in it.
   * @throws {CommandError} If it is a link.
   * @throws What Deno throws if there is none.
   */
  enter(name: string): HeldDirectory {
    const path = `${this.#shown === "/" ? "" : this.#shown}/${name}`;
    const entry = this.hold(name);
    const { isSymlink, isDirectory } = entry.status();
    if (isDirectory) return new HeldDirectory(this.#fd === undefined ? entry.path : numberOf(entry.path), path);
    entry[Symbol.dispose]();
    if (isSymlink) throw new CommandError(`'${path}' is a symbolic link, which is not followed here`);
    throw new Deno.errors.NotADirectory(`Not a directory (os error 20): open '${path}'`);
  }

  /** Runs `act`; the errors of its calls name this directory's entries as it was called. */
  runInside<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (this.#fd !== undefined && error instanceof Error) {
        error.message = error.message.replaceAll(`${this.path}/`, () => `${this.#shown === "/" ? "" : this.#shown}/`);
      }
      throw error;
    }
  }
}

function numberOf(path: string): number {
  return Number(baseName(path));
}

/**
 * Opens an entry of an open directory.
 * @throws What Deno throws if there is none.
 */
function openOrThrow(directory: number, name: string): number {
  const fd = openEntry(directory, name);
  if (fd >= 0) return fd;
  // The system's reason, from a call that says it.
  Deno.lstatSync(`/proc/self/fd/${directory}/${name}`);
  throw new CommandError(`'${name}' was exchanged while it was opened`);
}

/** What to hold. */
export interface Holding {
  /**
   * Whether a link at the end of the path is followed.
   * @default {true}
   */
  readonly follow?: boolean;
}

/**
 * Holds what `path` leads to.
 * @throws {CommandError} If another user's link leads to what is not that user's.
 * @throws What Deno throws if there is nothing.
 */
export function holdTarget(path: string, { follow = true }: Holding = {}): Held {
  if (!mayHold()) return new Held(follow && isLinkAt(path) ? Deno.realPathSync(path) : path);
  return new Held(find(path, { follow, directory: false }));
}

/**
 * Gives a file that root has written to the user whose directory it is for, who must read it. Does nothing for others
 * than root.
 * @throws What Deno throws, if one of both is not there.
 */
export function giveToOwnerOf(directory: string, path: string): void {
  const { uid } = Deno.statSync(directory);
  if (uid === 0 || Deno.uid() !== 0) return;
  using held = holdTarget(path, { follow: false });
  Deno.chownSync(held.path, uid, null);
}

/** As {@linkcode holdTarget}, for a directory, whose entries then can be changed. */
export function holdDirectory(path: string): HeldDirectory {
  if (!mayHold()) return new HeldDirectory(path, path);
  return new HeldDirectory(find(path, { follow: true, directory: true }), path);
}

function isLinkAt(path: string): boolean {
  return Deno.lstatSync(path).isSymlink;
}

/**
 * Runs `act` with the directory of `path`, held, and the name in it.
 * @throws {CommandError} If another user's link leads there to what is not that user's.
 * @throws What Deno throws if there is no such directory, and what `act` throws.
 */
export function inDirectoryOf<T>(path: string, act: (directory: HeldDirectory, name: string) => T): T {
  const trimmed = rstripChars(path, "/") || path;
  const slash = trimmed.lastIndexOf("/");
  using directory = holdDirectory(slash < 0 ? "." : trimmed.slice(0, slash) || "/");
  return directory.runInside(() => act(directory, path.slice(slash + 1)));
}

/**
 * Makes a file in a held directory, which this user alone may read and write.
 * @param fill Writes its contents.
 * @returns It, held: whatever another user has put under its name meanwhile.
 * @throws {CommandError} If its name leads to another object already.
 * @throws What Deno throws if there is something of that name, and what `fill` throws.
 */
export function createHeld(directory: HeldDirectory, name: string, fill: (file: Deno.FsFile) => void): Held {
  using file = Deno.openSync(directory.at(name), { write: true, createNew: true, mode: 0o600 });
  fill(file);
  return holdOpen(directory, name, file);
}

/**
 * Holds a file that is open, by its name.
 * @throws {CommandError} If its name leads to another object by now.
 */
export function holdOpen(directory: HeldDirectory, name: string, file: Deno.FsFile): Held {
  const held = directory.hold(name);
  const [made, current] = [file.statSync(), held.status()];
  if (made.dev === current.dev && made.ino === current.ino) return held;
  held[Symbol.dispose]();
  throw new CommandError(`${directory.at(name)} was exchanged by another user while it was written`);
}

/**
 * The path without links that `path` leads to, for who changes it: as {@linkcode holdTarget}, but what is not there is
 * allowed.
 * @param resolve Finds that path where nothing is held.
 * @throws {CommandError} If another user's link leads to what is not that user's.
 */
export function followForChange(path: string, resolve: (path: string) => string): string {
  return mayHold() ? followHeld(path, 0) : resolve(path);
}

function followHeld(path: string, links: number): string {
  try {
    using held = holdTarget(path);
    return Deno.readLinkSync(held.path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  try {
    return inDirectoryOf(path, (directory, name) => {
      const beside = Deno.readLinkSync(directory.path).replace(/\/$/, "");
      // Looked at once: another user may put something else there each time.
      using entry = directory.find(name);
      const info = entry?.status();
      const text = entry === undefined ? undefined : linkText(numberOf(entry.path));
      if (info === undefined || text === undefined) return `${beside}/${name}`;
      if (links === MAX_LINKS) throw new CommandError(`${path} has too many levels of symbolic links`);
      const target = followHeld(text.startsWith("/") ? text : `${beside}/${text}`, links + 1);
      // What a link of another user's leads to, and is not there yet, would be made where that user says.
      for (const uid of [info.uid, directory.status().uid]) {
        if (uid !== null && uid !== 0) refuseOthers(target, uid, path);
      }
      return target;
    });
  } catch (error) {
    // There is no such directory.
    if (error instanceof Deno.errors.NotFound) return path;
    throw error;
  }
}

function refuseOthers(target: string, uid: number, path: string): void {
  using directory = holdDirectory(dirName(target));
  if (directory.status().uid !== uid) throw new CommandError(refusal(path));
}

function refusal(path: string): string {
  return `${path} leads through a symbolic link of another user's to what is not that user's, which is not followed as root`;
}

/** Opens what a path leads to. */
function find(path: string, want: { readonly follow: boolean; readonly directory: boolean }): number {
  const fd = openWithoutLinks(path, { directory: want.directory });
  // A link at the end is opened itself.
  if (fd >= 0 && (want.directory || !want.follow || linkText(fd) === undefined)) return fd;
  if (fd >= 0) closeEntry(fd);
  return walk(path, want);
}

/** Opens what a path with links leads to, step by step. */
function walk(path: string, want: { readonly follow: boolean; readonly directory: boolean }): number {
  const trail: number[] = [];
  /** The users whose links were followed, or may have been. */
  const makers = new Set<number>();
  const start = (absolute: boolean) => {
    for (const fd of trail.splice(0)) closeEntry(fd);
    trail.push(openWithoutLinks(absolute ? "/" : Deno.cwd(), { directory: true }));
  };
  start(path.startsWith("/"));
  try {
    let names = path.split("/").filter((name) => name !== "" && name !== ".");
    for (let links = 0; names.length > 0;) {
      const [name, ...rest] = names;
      const fd = openOrThrow(trail[trail.length - 1], name);
      const target = rest.length > 0 || want.follow ? linkText(fd) : undefined;
      names = rest;
      if (target === undefined) {
        trail.push(fd);
        continue;
      }
      // Whoever owns the directory may have put it there, whoever owns the link: root may have been led to change its
      // owner.
      const owners = [fd, trail[trail.length - 1]].map((each) => Deno.statSync(`/proc/self/fd/${each}`).uid);
      closeEntry(fd);
      if (++links > MAX_LINKS) {
        throw new Deno.errors.FilesystemLoop(`Too many levels of symbolic links (os error 40): open '${path}'`);
      }
      for (const uid of owners) if (uid !== null && uid !== 0) makers.add(uid);
      if (target.startsWith("/")) start(true);
      names = [...target.split("/").filter((part) => part !== "" && part !== "."), ...rest];
    }
    const last = trail[trail.length - 1];
    const { uid, isDirectory } = Deno.statSync(`/proc/self/fd/${last}`);
    if (want.directory && !isDirectory) {
      throw new Deno.errors.NotADirectory(`Not a directory (os error 20): open '${path}'`);
    }
    if ([...makers].some((maker) => maker !== uid)) throw new CommandError(refusal(path));
    trail.pop();
    return last;
  } catch (error) {
    if (error instanceof Error) {
      error.message = error.message.replace(/'\/proc\/self\/fd\/\d+[^']*'/, () => `'${path}'`);
    }
    throw error;
  } finally {
    for (const fd of trail) closeEntry(fd);
  }
}

/**
 * Renames `from` to `to`, each in its directory, which is held.
 * @throws {CommandError} As {@linkcode inDirectoryOf}.
 * @throws What Deno throws.
 */
export function renameHeld(from: string, to: string): void {
  inDirectoryOf(
    from,
    (source, old) => inDirectoryOf(to, (target, name) => Deno.renameSync(source.at(old), target.at(name))),
  );
}
