/**
 * A directory on a disk that loses power: data that processes have synced is there afterwards; other data may be there,
 * unchanged, truncated, or empty. A preloaded library (power.c) records the operations of the processes.
 *
 * The model is stricter than most file systems. The contents of a file survive only by a sync of the file, its name
 * only by a sync of its directory. Of the changes to names in a directory since its last sync, any number from the
 * beginning may be there, and each directory has its own number. Data written to a file since its last sync is there,
 * missing, or truncated anywhere. One guarantee: after a rename between two directories, the file is in at least one of
 * them.
 * @module
 */

import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import type { Random } from "#tests/fuzz/mutate.ts";

/** The choices that a disk makes at a power failure. */
export interface Choices extends Pick<Random, "int" | "chance"> {
  /**
   * Whether the file of that name keeps all written data, whatever else is chosen.
   * @default no file
   */
  keeps?(name: string): boolean;
}

/** A disk that keeps only synced data. */
export const ONLY_SYNCED: Choices = { int: () => 0, chance: () => true };

/** A disk that keeps all names, and only the synced contents of files. */
export const ALL_NAMES: Choices = { int: (below) => below === OUTCOMES ? 1 : 0, chance: () => true };

/** The possible fates of changes to a directory: none, all, or some of them are kept. */
const OUTCOMES = 3;

/** A file, by its inode. */
interface File {
  readonly kind: "file";
  readonly inode: string;
}

/** A change of a name in a directory. */
interface Change {
  readonly name: string;
  /** The file of the name after the change; `undefined` if the name is removed. */
  readonly node: Node | undefined;
  /** For a rename within the directory: the old name. */
  readonly gone?: string;
  /** For a name that is renamed to another directory: the change there, without which the name stays here. */
  readonly arrival?: { readonly directory: Directory; readonly change: Change };
}

/** A directory. */
interface Directory {
  readonly kind: "directory";
  readonly mode: number;
  /** Its current entries. */
  readonly names: Map<string, Node>;
  /** Its synced entries. */
  synced: Map<string, Node>;
  /** The changes since the last sync. */
  changes: Change[];
}

type Node = File | Directory;

function newDirectory(mode = 0o700): Directory {
  return { kind: "directory", mode, names: new Map(), synced: new Map(), changes: [] };
}

/** The directory. */
export class PowerDisk {
  readonly #library: string;
  readonly #root: string;
  readonly #shadow: string;
  #tree: Directory | undefined;

  /**
   * @param root The directory; it need not exist yet.
   * @param options.library The path of the built library.
   * @param options.shadow A directory on the same file system, for the records; it is emptied.
   */
  constructor(root: string, { library, shadow }: { readonly library: string; readonly shadow: string }) {
    this.#root = root;
    this.#library = library;
    this.#shadow = shadow;
  }

  /** The prefix of a command that writes to the directory. At the first call, the existing files count as synced. */
  get words(): string[] {
    if (this.#tree === undefined) this.#begin();
    return ["env", `LD_PRELOAD=${this.#library}`, `POWER_ROOT=${this.#root}`, `POWER_SHADOW=${this.#shadow}`];
  }

  #begin(): void {
    Deno.mkdirSync(this.#root, { recursive: true });
    removeAll(this.#shadow);
    for (const name of ["", "/files", "/synced"]) Deno.mkdirSync(this.#shadow + name);
    this.#tree = this.#take(this.#root);
  }

  #take(path: string): Directory {
    const directory = newDirectory((Deno.statSync(path).mode ?? 0) & 0o777);
    for (const { name, isFile, isDirectory } of Deno.readDirSync(path)) {
      const child = `${path}/${name}`;
      if (isDirectory) directory.names.set(name, this.#take(child));
      if (!isFile) continue;
      const inode = String(Deno.statSync(child).ino);
      const copy = `${this.#shadow}/files/${inode}`;
      if (!lexistsOrThrow(copy)) {
        Deno.linkSync(child, copy);
        Deno.writeFileSync(`${this.#shadow}/synced/${inode}`, Deno.readFileSync(child));
      }
      directory.names.set(name, { kind: "file", inode });
    }
    directory.synced = new Map(directory.names);
    return directory;
  }

  /** Kills the process that writes to the directory, before or after the given number of further operations. */
  cutAt(operations: number, when: "before" | "after"): void {
    Deno.writeTextFileSync(`${this.#shadow}/cut.new`, `${operations} ${when}\n`);
    Deno.renameSync(`${this.#shadow}/cut.new`, `${this.#shadow}/cut`);
  }

  /**
   * Changes the directory to a state that the disk could have. All processes that write to it must have been killed.
   */
  fail(random: Choices): void {
    const tree = this.#tree;
    if (tree === undefined) throw new Error("nothing was written to this disk");
    const all = [tree];
    this.#readOps(tree, all);
    const keptNames = chosenNames(all, random);
    const contents = new Map<string, Uint8Array>();
    const rebuilt = `${this.#root}.rebuilt`;
    removeAll(rebuilt);
    this.#build(tree, rebuilt, { keptNames, contents, random });
    removeAll(this.#root);
    Deno.renameSync(rebuilt, this.#root);
    this.#tree = undefined;
  }

  /**
   * Replays the recorded operations on the tree.
   * @param all Gets every directory that exists or existed.
   */
  #readOps(tree: Directory, all: Directory[]): void {
    const path = `${this.#shadow}/ops`;
    let number = 0;
    const refuse = (problem: string): never => {
      throw new Error(`${path}:${number}: ${problem}`);
    };
    const find = (path: string): Directory => {
      let directory = tree;
      for (const name of path.split("/").filter((part) => part !== "")) {
        const node = directory.names.get(name);
        if (node?.kind !== "directory") return refuse(`no directory ${path}`);
        directory = node;
      }
      return directory;
    };
    const collect = (directory: Directory) => {
      for (const node of directory.names.values()) {
        if (node.kind === "directory") all.push(node), collect(node);
      }
    };
    collect(tree);
    const place = (path: string): [Directory, string] => {
      const slash = path.lastIndexOf("/");
      return [find(slash < 0 ? "" : path.slice(0, slash)), path.slice(slash + 1)];
    };
    const change = (directory: Directory, change: Change) => {
      if (change.gone !== undefined) directory.names.delete(change.gone);
      if (change.node === undefined) directory.names.delete(change.name);
      else directory.names.set(change.name, change.node);
      directory.changes.push(change);
    };
    const sync = (directory: Directory) => {
      // A file that was renamed to another directory is there, whatever happens to the other changes of that directory.
      for (const { arrival } of directory.changes) {
        const at = arrival === undefined ? -1 : arrival.directory.changes.indexOf(arrival.change);
        if (arrival !== undefined && at >= 0) {
          applyTo(arrival.directory.synced, arrival.directory.changes.splice(0, at + 1));
        }
      }
      directory.synced = new Map(directory.names);
      directory.changes = [];
    };
    for (const line of Deno.readTextFileSync(path).split("\n").slice(0, -1)) {
      number++;
      const [what, first, second] = line.split("\t");
      if (what === "create") {
        const [directory, name] = place(second);
        change(directory, { name, node: { kind: "file", inode: first } });
      } else if (what === "mkdir") {
        const [directory, name] = place(first);
        const node = newDirectory();
        all.push(node);
        change(directory, { name, node });
      } else if (what === "remove") {
        const [directory, name] = place(first);
        if (directory.names.has(name)) change(directory, { name, node: undefined }); // else a socket
      } else if (what === "rename" || what === "link") {
        const [from, old] = place(first);
        const [to, name] = place(second);
        const node = from.names.get(old) ?? refuse(`no ${first}`);
        if (from === to) change(to, { name, node, gone: what === "rename" ? old : undefined });
        else {
          const arrival: Change = { name, node };
          change(to, arrival);
          if (what === "rename") {
            change(from, { name: old, node: undefined, arrival: { directory: to, change: arrival } });
          }
        }
      } else if (what === "directory") sync(find(first));
      else if (what === "all") all.forEach(sync);
      else refuse(`what is ${what}?`);
    }
  }

  #build(
    directory: Directory,
    path: string,
    to: {
      readonly keptNames: ReadonlyMap<Directory, Map<string, Node>>;
      readonly contents: Map<string, Uint8Array>;
      readonly random: Choices;
    },
  ): void {
    Deno.mkdirSync(path);
    for (const [name, node] of to.keptNames.get(directory) ?? []) {
      if (node.kind === "directory") this.#build(node, `${path}/${name}`, to);
      else {
        const bytes = to.contents.get(node.inode) ?? this.#contents(node.inode, name, to.random);
        to.contents.set(node.inode, bytes);
        const { mode } = Deno.statSync(`${this.#shadow}/files/${node.inode}`);
        Deno.writeFileSync(`${path}/${name}`, bytes);
        Deno.chmodSync(`${path}/${name}`, (mode ?? 0o600) & 0o777);
      }
    }
    Deno.chmodSync(path, directory.mode);
  }

  #contents(inode: string, name: string, random: Choices): Uint8Array {
    const now = Deno.readFileSync(`${this.#shadow}/files/${inode}`);
    if (random.keeps?.(name)) return now;
    const path = `${this.#shadow}/synced/${inode}`;
    const synced = lexistsOrThrow(path) ? Deno.readFileSync(path) : undefined;
    if (synced !== undefined && sameBytes(synced, now)) return now;
    const kind = random.int(10);
    if (kind < 5) return synced ?? new Uint8Array();
    if (kind > 7) return now;
    // Data that was appended to synced data is kept in part.
    const min = synced !== undefined && sameBytes(synced, now.subarray(0, synced.length)) ? synced.length : 0;
    if (synced !== undefined && min === 0 && synced.length > 0) return random.chance(0.5) ? synced : now;
    return now.slice(0, min + random.int(now.length - min + 1));
  }

  /** Removes the records. */
  close(): void {
    removeAll(this.#shadow);
  }
}

/** For each directory, the entries that a disk could have kept. */
function chosenNames(all: readonly Directory[], random: Choices): Map<Directory, Map<string, Node>> {
  const counts = new Map(all.map((directory) => {
    const { length } = directory.changes;
    const kind = random.int(OUTCOMES);
    return [directory, kind === 0 ? 0 : kind === 1 ? length : random.int(length + 1)];
  }));
  return new Map(all.map((directory) => {
    const names = new Map(directory.synced);
    const changes = directory.changes.slice(0, counts.get(directory)).filter(({ arrival }) => {
      if (arrival === undefined) return true;
      const at = arrival.directory.changes.indexOf(arrival.change);
      return at < 0 || at < (counts.get(arrival.directory) ?? 0);
    });
    applyTo(names, changes);
    return [directory, names];
  }));
}

function applyTo(names: Map<string, Node>, changes: readonly Change[]): void {
  for (const { name, node, gone } of changes) {
    if (gone !== undefined) names.delete(gone);
    if (node === undefined) names.delete(name);
    else names.set(name, node);
  }
}

function removeAll(path: string): void {
  if (lexistsOrThrow(path)) Deno.removeSync(path, { recursive: true });
}
