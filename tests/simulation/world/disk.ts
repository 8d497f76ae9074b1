/**
 * The simulated disks: files and directories in memory, below {@linkcode MOUNT}. They answer as the functions of the
 * runtime do, of which they have those that master and minion call; what these call besides fails by name (globals.ts).
 * There are no links, and everything belongs to the user of this program. A part of the tree may lose its power: then
 * it keeps what was synced, and of the rest what power_model.ts says.
 * @module
 */

import { type Choices, DiskDirectory, keptBytes } from "#tests/support/files/power_model.ts";
import { world } from "./world.ts";

/** Where the disk is. No file system has such a directory. */
export const MOUNT = "/simulated-disk";

/** What is known of a file and of a directory. */
interface Info {
  readonly inode: number;
  mode: number;
  changed: Date;
}

/** A file. Its bytes are never changed: a write makes new ones. */
interface FileNode {
  readonly kind: "file";
  readonly info: Info;
  /** Where its bytes begin, with room for more. */
  memory?: Uint8Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
  /** The bytes of the last sync. */
  synced?: Uint8Array<ArrayBuffer>;
}

type DirectoryNode = DiskDirectory<FileNode, Info>;
type Node = FileNode | DirectoryNode;

/** Paths that are remembered in parts. */
const MOST_PATHS = 5_000;
/** Milliseconds that a sync takes. */
const SYNC_MS: readonly [number, number] = [0.2, 30];

const { AlreadyExists, IsADirectory, NotADirectory, NotFound } = Deno.errors;
const FILE_BITS = 0o100000, DIRECTORY_BITS = 0o40000;
const encoder = new TextEncoder();

/** Without a stack, which would take longer than everything else here: most callers ask whether there is a file. */
function missing(path: string): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return new NotFound(`No such file or directory (os error 2): '${path}'`);
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/** A disk. */
class MemoryDisk {
  /** Called with each new file and directory, and its mode. */
  onMade: (path: string, mode: number) => void = () => {};
  #inodes = 1;
  readonly #root: DirectoryNode = new DiskDirectory(this.#info(0o700));

  #info(mode: number): Info {
    return { inode: this.#inodes++, mode, changed: new Date() };
  }

  /** The entry at a path; `undefined` if there is none. */
  #find(path: string): Node | undefined {
    let node: Node | undefined = this.#root;
    for (const name of namesOf(path)) {
      if (node === undefined) return undefined;
      if (node.kind === "file") throw new NotADirectory(`Not a directory (os error 20): '${path}'`);
      node = node.names.get(name);
    }
    return node;
  }

  #existing(path: string): Node {
    const node = this.#find(path);
    if (node === undefined) throw missing(path);
    return node;
  }

  #file(path: string): FileNode {
    const node = this.#existing(path);
    if (node.kind === "directory") throw new IsADirectory(`Is a directory (os error 21): '${path}'`);
    return node;
  }

  /** The directory of a path, and the name there. */
  #place(path: string): [DirectoryNode, string] {
    const names = [...namesOf(path)], name = names.pop();
    const directory = this.#existing(`${MOUNT}/${names.join("/")}`);
    if (name === undefined || directory.kind === "file") {
      throw new NotADirectory(`Not a directory (os error 20): '${path}'`);
    }
    return [directory, name];
  }

  #put(directory: DirectoryNode, name: string, node: Node): void {
    directory.put(name, node);
    directory.info.changed = new Date();
  }

  /** As `Deno.openSync`. */
  open(path: string, options: Deno.OpenOptions = { read: true }): OpenFile {
    let node = this.#find(path);
    if (node !== undefined && options.createNew) throw new AlreadyExists(`File exists (os error 17): '${path}'`);
    if (node === undefined) {
      if (!options.create && !options.createNew) throw missing(path);
      const [directory, name] = this.#place(path);
      node = { kind: "file", info: this.#info(options.mode ?? 0o644), bytes: new Uint8Array() };
      this.#put(directory, name, node);
      this.onMade(path, node.info.mode);
    }
    if (node.kind === "file" && options.truncate) node.bytes = new Uint8Array();
    return new OpenFile(node, options.append ?? false);
  }

  /** As `Deno.writeFileSync`. */
  write(path: string, bytes: Uint8Array, options: Deno.WriteFileOptions = {}): void {
    const { append = false, create = true, createNew = false, mode } = options;
    this.open(path, { write: true, append, create, createNew, truncate: !append, mode }).writeSync(bytes);
  }

  /** As `Deno.truncateSync`. */
  truncate(path: string, length = 0): void {
    new OpenFile(this.#file(path), false).truncateSync(length);
  }

  /** As `Deno.readFileSync`. */
  read(path: string): Uint8Array<ArrayBuffer> {
    return this.#file(path).bytes.slice();
  }

  /** As `Deno.statSync`. */
  stat(path: string): Deno.FileInfo {
    return infoOf(this.#existing(path));
  }

  /** As `Deno.readDirSync`: by name, as no file system promises; so a seed is the same story everywhere. */
  list(path: string): Deno.DirEntry[] {
    const node = this.#existing(path);
    if (node.kind === "file") throw new NotADirectory(`Not a directory (os error 20): '${path}'`);
    return [...node.names].sort(([a], [b]) => a < b ? -1 : 1).map(([name, { kind }]) => ({
      name,
      isFile: kind === "file",
      isDirectory: kind === "directory",
      isSymlink: false,
    }));
  }

  /** As `Deno.mkdirSync`. */
  makeDirectory(path: string, { recursive = false, mode = 0o777 }: Deno.MkdirOptions = {}): void {
    const node = this.#find(path);
    if (node !== undefined) {
      if (recursive && node.kind === "directory") return;
      throw new AlreadyExists(`File exists (os error 17): '${path}'`);
    }
    if (recursive) this.makeDirectory(path.slice(0, path.lastIndexOf("/")), { recursive, mode });
    this.#put(...this.#place(path), new DiskDirectory(this.#info(mode)));
    this.onMade(path, mode);
  }

  /** As `Deno.removeSync`. */
  remove(path: string, { recursive = false }: Deno.RemoveOptions = {}): void {
    const node = this.#existing(path);
    if (node.kind === "directory" && !recursive && node.names.size > 0) {
      throw new Error(`Directory not empty (os error 39): '${path}'`);
    }
    const [directory, name] = this.#place(path);
    directory.drop(name);
    directory.info.changed = new Date();
  }

  /** As `Deno.renameSync`. */
  rename(from: string, to: string): void {
    const node = this.#existing(from);
    const there = this.#find(to);
    if (there?.kind === "directory") {
      if (node.kind === "file") throw new IsADirectory(`Is a directory (os error 21): '${to}'`);
      if (there.names.size > 0) throw new Error(`Directory not empty (os error 39): '${to}'`);
    }
    if (there?.kind === "file" && node.kind === "directory") {
      throw new NotADirectory(`Not a directory (os error 20): '${to}'`);
    }
    const [target, name] = this.#place(to), [source, old] = this.#place(from);
    source.move(old, target, name);
    source.info.changed = target.info.changed = new Date();
  }

  /** As `Deno.linkSync`: a second name of a file. */
  link(from: string, to: string): void {
    if (this.#find(to) !== undefined) throw new AlreadyExists(`File exists (os error 17): '${to}'`);
    const node = this.#file(from);
    this.#put(...this.#place(to), node);
  }

  /** As `Deno.chmodSync`. */
  changeMode(path: string, mode: number): void {
    this.#existing(path).info.mode = mode;
    this.onMade(path, mode);
  }

  /** Everything below a path is on the disk, as after an installation. */
  settle(path: string): void {
    for (const directory of this.#tree(path)) {
      directory.sync();
      for (const node of directory.names.values()) if (node.kind === "file") node.synced = node.bytes;
    }
  }

  /** As {@linkcode settle}, of the present state, in the time that it takes. */
  async syncAll(path: string): Promise<void> {
    const files = this.#tree(path).flatMap(({ names }) => [...names.values()]).filter((node) => node.kind === "file");
    const written = files.map((node) => ({ node, bytes: node.bytes }));
    const named = this.#tree(path).map((directory) => directory.beginSync());
    await syncTime();
    for (const { node, bytes } of written) node.synced = bytes;
    for (const end of named) end();
  }

  /** The power of what is below a path fails. No process may write there until it is started again. */
  fail(path: string, choices: Choices): void {
    const directories = this.#tree(path);
    const files = new Set<FileNode>();
    for (const [directory, names] of DiskDirectory.chosenNames(directories, choices)) {
      directory.reset(names);
      for (const node of names.values()) if (node.kind === "file") files.add(node);
    }
    for (const node of files) node.synced = node.bytes = new Uint8Array(keptBytes(node.bytes, node.synced, choices));
  }

  #tree(path: string): DirectoryNode[] {
    const node = this.#existing(path);
    if (node.kind === "file") throw new NotADirectory(`Not a directory (os error 20): '${path}'`);
    return node.all;
  }
}

function syncTime(): Promise<void> {
  return new Promise((resolve) => {
    world().after(world().random.between(...SYNC_MS), resolve);
  });
}

/** An open file or directory: what is called of a `Deno.FsFile`. */
export class OpenFile implements Disposable {
  readonly #node: Node;
  readonly #appends: boolean;
  #at = 0;

  /** Opens it. */
  constructor(node: Node, appends: boolean) {
    this.#node = node;
    this.#appends = appends;
  }

  /** Writes all of some bytes, at the end or where it is. */
  writeSync(bytes: Uint8Array): number {
    const node = this.#node;
    if (node.kind === "directory") throw new IsADirectory("Is a directory (os error 21)");
    const at = this.#appends ? node.bytes.length : this.#at;
    node.bytes = at === node.bytes.length ? appended(node, bytes) : overwritten(node.bytes, bytes, at);
    node.info.changed = new Date();
    this.#at = at + bytes.length;
    return bytes.length;
  }

  /** Reads from where it is. */
  readSync(into: Uint8Array): number | null {
    const node = this.#node;
    if (node.kind === "directory") throw new IsADirectory("Is a directory (os error 21)");
    const some = node.bytes.subarray(this.#at, this.#at + into.length);
    into.set(some);
    this.#at += some.length;
    return some.length === 0 ? null : some.length;
  }

  /** Cuts it off. */
  truncateSync(length = 0): void {
    if (this.#node.kind === "directory") throw new IsADirectory("Is a directory (os error 21)");
    this.#node.bytes = this.#node.bytes.slice(0, length);
  }

  /** What was written is on the disk. */
  syncSync(): void {
    if (this.#node.kind === "file") this.#node.synced = this.#node.bytes;
    else this.#node.sync();
  }

  /** As {@linkcode syncSync}. */
  syncDataSync(): void {
    this.syncSync();
  }

  /** What has been written until now is on the disk when the promise resolves. */
  async syncData(): Promise<void> {
    const node = this.#node;
    if (node.kind !== "file") return;
    const { bytes } = node;
    await syncTime();
    node.synced = bytes;
  }

  /** Nobody else has it: whoever locks a file does not wait before it is closed. */
  tryLockSync(): boolean {
    return true;
  }

  /** Closes it. */
  close(): void {}

  [Symbol.dispose](): void {}
}

/** What was written is never changed, but the memory behind it may have more. */
function appended(node: FileNode, more: Uint8Array): Uint8Array<ArrayBuffer> {
  const { bytes } = node, length = bytes.length + more.length;
  let memory = node.memory;
  if (memory === undefined || memory.buffer !== bytes.buffer || memory.length < length) {
    memory = node.memory = new Uint8Array(2 * length);
    memory.set(bytes);
  }
  memory.set(more, bytes.length);
  return memory.subarray(0, length);
}

function overwritten(bytes: Uint8Array, more: Uint8Array, at: number): Uint8Array<ArrayBuffer> {
  const next = new Uint8Array(Math.max(bytes.length, at + more.length));
  next.set(bytes);
  next.set(more, at);
  return next;
}

/** The part of the tree that is a machine's disk: two names below the mount, a run and a host. */
export function machineOf(path: string): string {
  return `${MOUNT}/${namesOf(path).slice(0, 2).join("/")}`;
}

const known = new Map<string, readonly string[]>();

function namesOf(path: string): readonly string[] {
  const names = known.get(path) ?? splitPath(path);
  if (known.size >= MOST_PATHS) known.clear();
  known.set(path, names);
  return names;
}

function splitPath(path: string): string[] {
  return path.slice(MOUNT.length).split("/").filter((name) => name !== "");
}

function infoOf(node: Node): Deno.FileInfo {
  const { kind, info: { inode, mode, changed } } = node;
  const size = node.kind === "file" ? node.bytes.length : 4096;
  return {
    isFile: kind === "file",
    isDirectory: kind === "directory",
    isSymlink: false,
    isBlockDevice: false,
    isCharDevice: false,
    isFifo: false,
    isSocket: false,
    size,
    mtime: changed,
    atime: changed,
    birthtime: changed,
    ctime: changed,
    dev: 1,
    ino: inode,
    mode: mode | (kind === "file" ? FILE_BITS : DIRECTORY_BITS),
    nlink: 1,
    uid: Deno.uid(),
    gid: Deno.gid(),
    rdev: 0,
    blksize: 4096,
    blocks: Math.ceil(size / 512),
  };
}

let running: MemoryDisk | undefined;

/** The disk of the running world. */
export function disk(): MemoryDisk {
  if (running === undefined) throw new Error("There is no disk");
  return running;
}

/** Begins an empty disk. */
export function beginDisk(): MemoryDisk {
  return running = new MemoryDisk();
}

/** Functions of the runtime, by their names. */
type Calls = Readonly<Record<string, (...args: never[]) => unknown>>;

/** The functions of the runtime that the disk answers: those that look, and those that change something. */
export function diskCalls(disk: () => MemoryDisk): { readonly looks: Calls; readonly changes: Calls } {
  const text = (path: string) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(disk().read(path));
  return {
    looks: {
      lstatSync: (path: string) => disk().stat(path),
      readDirSync: (path: string) => disk().list(path),
      readFileSync: (path: string) => disk().read(path),
      readTextFileSync: text,
      statSync: (path: string) => disk().stat(path),
    },
    changes: {
      chmodSync: (path: string, mode: number) => disk().changeMode(path, mode),
      linkSync: (from: string, to: string) => disk().link(from, to),
      mkdirSync: (path: string, options?: Deno.MkdirOptions) => disk().makeDirectory(path, options),
      openSync: (path: string, options?: Deno.OpenOptions) => disk().open(path, options),
      removeSync: (path: string, options?: Deno.RemoveOptions) => disk().remove(path, options),
      truncateSync: (path: string, length?: number) => disk().truncate(path, length),
      renameSync: (from: string, to: string) => disk().rename(from, to),
      writeFileSync: (path: string, bytes: Uint8Array, options?: Deno.WriteFileOptions) =>
        disk().write(path, bytes, options),
      writeTextFileSync: (path: string, text: string, options?: Deno.WriteFileOptions) =>
        disk().write(path, encoder.encode(text), options),
    },
  };
}
