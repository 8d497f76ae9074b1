/**
 * Files that are being fetched, below `<cachedir>/transfers`. The name is made from the expected contents, so that an
 * interrupted transfer is continued by the next one of the same file, also in another process. It is locked, so that
 * two processes do not write to one file.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import type { FileHash } from "./file_client.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";

/** Age after which an abandoned file is removed, in milliseconds. */
const LEFT_MS = 24 * 3_600_000;
/** Maximum number of tries to open a file that another process has just moved. */
const MAX_OPENS = 5;

/** The directories that this thread has cleaned. */
const cleaned = new Set<string>();

/** The expected contents of a file. */
export interface ExpectedFile {
  /** The path in the environment. */
  readonly path: string;
  readonly saltenv: string;
  readonly hash: FileHash;
}

/** A file that is being fetched, with mode 0600. */
export class PartialFile implements Disposable {
  readonly #file: Deno.FsFile;
  readonly #inode: number | null;
  /** Whether it stays when it is closed. */
  #left: boolean;

  /**
   * @param path Its path.
   * @param size Bytes that it has already.
   */
  private constructor(file: Deno.FsFile, readonly path: string, readonly size: number, shared: boolean) {
    this.#file = file;
    this.#left = shared;
    this.#inode = file.statSync().ino;
  }

  /** Opens the part that exists, or makes an empty file. */
  static async open(cachedir: string, { path, saltenv, hash }: ExpectedFile): Promise<PartialFile> {
    const directory = `${cachedir}/transfers`;
    await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
    if (!cleaned.has(directory)) {
      cleaned.add(directory);
      await removeLeft(directory);
    }
    const name = hashHex([saltenv, path, hash.hashType, hash.hsum].join("\0"), "sha256");
    for (let tries = 0; tries < MAX_OPENS; tries++) {
      const shared = await openLocked(`${directory}/${name}.part`);
      if (shared === "busy") break;
      if (shared !== "moved") return shared;
    }
    // Another job fetches the same file now.
    const own = `${directory}/${name}.${crypto.randomUUID()}.part`;
    const file = await Deno.open(own, { read: true, write: true, createNew: true, mode: 0o600 });
    return new PartialFile(file, own, 0, false);
  }

  /** @internal Used by the function below. */
  static of(file: Deno.FsFile, path: string, size: number): PartialFile {
    return new PartialFile(file, path, size, true);
  }

  /** Adds to its end. */
  async append(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#file.write(bytes.subarray(at));
  }

  /** Drops the data, because it is not useful any more. */
  discard(): void {
    this.#left = false;
  }

  /** Closes it. An unfinished file stays for the next transfer, unless only this one could use it. */
  [Symbol.dispose](): void {
    // Before the lock ends: a file of that name that is made then is another's.
    if (!this.#left && inodeOf(this.path) === this.#inode) removeIfExists(this.path);
    this.#file.close();
  }
}

async function openLocked(path: string): Promise<PartialFile | "busy" | "moved"> {
  const file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
  try {
    if (!await file.tryLock(true)) {
      file.close();
      return "busy";
    }
    const { ino, size } = await file.stat();
    if (inodeOf(path) !== ino) {
      file.close();
      return "moved";
    }
    await file.seek(0, Deno.SeekMode.End);
    return PartialFile.of(file, path, size);
  } catch (error) {
    file.close();
    throw error;
  }
}

function inodeOf(path: string): number | null {
  try {
    return Deno.lstatSync(path).ino;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Removes files that were not continued for a day. */
async function removeLeft(directory: string): Promise<void> {
  const oldest = Date.now() - LEFT_MS;
  for await (const { name, isFile } of Deno.readDir(directory)) {
    if (!isFile || !name.endsWith(".part")) continue;
    try {
      const { mtime } = await Deno.lstat(`${directory}/${name}`);
      if (mtime !== null && mtime.getTime() < oldest) await Deno.remove(`${directory}/${name}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error; // another job's transfer ended
    }
  }
}
