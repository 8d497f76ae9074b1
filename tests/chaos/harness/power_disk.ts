/**
 * A directory on a disk that loses power: data that processes have synced is there afterwards; other data may be there,
 * unchanged, truncated, or empty (power_model.ts). A preloaded library (power.c) records the operations of the
 * processes.
 * @module
 */

import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { type Choices, DiskDirectory, keptBytes } from "#tests/support/files/power_model.ts";

/** What is chosen at a power failure of this directory. */
export interface PowerChoices extends Choices {
  /**
   * Whether the file of that name keeps all written data, whatever else is chosen.
   * @default no file
   */
  keeps?(name: string): boolean;
}

/** A file, by its inode. */
interface File {
  readonly kind: "file";
  readonly inode: string;
}

type Directory = DiskDirectory<File, { readonly mode: number }>;
type Node = File | Directory;

function newDirectory(mode = 0o700): Directory {
  return new DiskDirectory({ mode });
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
      if (isDirectory) directory.put(name, this.#take(child));
      if (!isFile) continue;
      const inode = String(Deno.statSync(child).ino);
      const copy = `${this.#shadow}/files/${inode}`;
      if (!lexistsOrThrow(copy)) {
        Deno.linkSync(child, copy);
        Deno.writeFileSync(`${this.#shadow}/synced/${inode}`, Deno.readFileSync(child));
      }
      directory.put(name, { kind: "file", inode });
    }
    directory.sync();
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
  fail(random: PowerChoices): void {
    const tree = this.#tree;
    if (tree === undefined) throw new Error("nothing was written to this disk");
    this.#readOps(tree);
    const keptNames = DiskDirectory.chosenNames(tree.all, random);
    const contents = new Map<string, Uint8Array>();
    const rebuilt = `${this.#root}.rebuilt`;
    removeAll(rebuilt);
    this.#build(tree, rebuilt, { keptNames, contents, random });
    removeAll(this.#root);
    Deno.renameSync(rebuilt, this.#root);
    this.#tree = undefined;
  }

  /** Replays the recorded operations on the tree. */
  #readOps(tree: Directory): void {
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
    const place = (path: string): [Directory, string] => {
      const slash = path.lastIndexOf("/");
      return [find(slash < 0 ? "" : path.slice(0, slash)), path.slice(slash + 1)];
    };
    for (const line of Deno.readTextFileSync(path).split("\n").slice(0, -1)) {
      number++;
      const [what, first, second] = line.split("\t");
      if (what === "create") {
        const [directory, name] = place(second);
        directory.put(name, { kind: "file", inode: first });
      } else if (what === "mkdir") {
        const [directory, name] = place(first);
        directory.put(name, newDirectory());
      } else if (what === "remove") {
        const [directory, name] = place(first);
        if (directory.names.has(name)) directory.drop(name); // else a socket
      } else if (what === "rename" || what === "link") {
        const [from, old] = place(first);
        const [to, name] = place(second);
        const node = from.names.get(old) ?? refuse(`no ${first}`);
        if (what === "rename") from.move(old, to, name);
        else to.put(name, node);
      } else if (what === "directory") find(first).sync();
      else if (what === "all") tree.all.forEach((each) => each.sync());
      else refuse(`what is ${what}?`);
    }
  }

  #build(
    directory: Directory,
    path: string,
    to: {
      readonly keptNames: ReadonlyMap<Directory, Map<string, Node>>;
      readonly contents: Map<string, Uint8Array>;
      readonly random: PowerChoices;
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
    Deno.chmodSync(path, directory.info.mode);
  }

  #contents(inode: string, name: string, random: PowerChoices): Uint8Array {
    const now = Deno.readFileSync(`${this.#shadow}/files/${inode}`);
    if (random.keeps?.(name)) return now;
    const path = `${this.#shadow}/synced/${inode}`;
    const synced = lexistsOrThrow(path) ? Deno.readFileSync(path) : undefined;
    return keptBytes(now, synced, random);
  }

  /** Removes the records. */
  close(): void {
    removeAll(this.#shadow);
  }
}

function removeAll(path: string): void {
  if (lexistsOrThrow(path)) Deno.removeSync(path, { recursive: true });
}
