/**
 * The mask that takes permission bits from new files. A process has one for all its threads, and setting it, even reading it with umask(2), changes
 * what other threads make meanwhile. So no thread sets it: the mask of a state (`umask`) goes with the state's calls, and what makes files or starts
 * commands asks here for it. Only services set the process's mask, at their start.
 * @module
 */

import type { AsyncLocalStorage } from "node:async_hooks";
import { isDirectory } from "./file_kind.ts";
import { nodeBuiltin } from "./node_builtin.ts";
import { writeAll } from "./write_all.ts";

/** The masks of the calls that have their own; opened by the first one. */
let masks: AsyncLocalStorage<number> | undefined;
/** The process's mask, which does not change after its start. */
let processMask: number | undefined;

/** Runs `run`; what it makes and starts until its end has this mask, also while others run. */
export async function withUmask<T>(mask: number, run: () => Promise<T>): Promise<T> {
  masks ??= new (nodeBuiltin("node:async_hooks").AsyncLocalStorage)<number>();
  return await masks.run(mask & 0o777, run);
}

/** The mask of the running call, if it has its own: commands get the process's one without asking. */
export function ownUmask(): number | undefined {
  return masks?.getStore();
}

/** The mask for new files. */
export function currentUmask(): number {
  return ownUmask() ?? (processMask ??= readProcessMask());
}

function readProcessMask(): number {
  try {
    const digits = /^Umask:\s*([0-7]+)$/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1];
    if (digits !== undefined) return parseInt(digits, 8);
  } catch {
    // No Linux, or a thread that may not read there.
  }
  return Deno.umask();
}

/** How a directory is made. */
export interface NewDirectory {
  /** Whether missing ones above it are made, and one that is there is no error. */
  readonly recursive?: boolean;
  /** Permission bits, of which the mask takes some. @default {0o777} */
  readonly mode?: number;
}

/** Makes the directory `path`. @throws What `Deno.mkdirSync` throws. */
export function createDirectory(path: string, { recursive = false, mode = 0o777 }: NewDirectory = {}): void {
  const mask = ownUmask();
  if (mask === undefined) return Deno.mkdirSync(path, { recursive, mode });
  if (recursive) {
    if (isDirectory(path)) return;
    const above = path.replace(/\/+[^/]*\/*$/, "");
    if (above !== "" && above !== path) createDirectory(above, { recursive, mode });
  }
  Deno.mkdirSync(path, { mode: mode & ~mask });
  widen(path, mode & ~mask);
}

/** How a file is opened to be written. */
export interface OpenToWrite {
  /** Whether the contents are removed first. */
  readonly truncate?: boolean;
  /** Whether writing continues at the end. */
  readonly append?: boolean;
  /** Permission bits of a file that is made, of which the mask takes some. @default {0o666} */
  readonly mode?: number;
}

/** Opens the file `path`, and makes it if it is missing. @throws What `Deno.openSync` throws. */
export function openToWrite(path: string, { mode = 0o666, ...how }: OpenToWrite = {}): Deno.FsFile {
  const mask = ownUmask();
  if (mask === undefined) return Deno.openSync(path, { write: true, create: true, mode, ...how });
  try {
    const made = Deno.openSync(path, { write: true, createNew: true, mode: mode & ~mask, append: how.append });
    widen(path, mode & ~mask);
    return made;
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    return Deno.openSync(path, { write: true, create: true, mode: mode & ~mask, ...how });
  }
}

/** Writes a whole file, which is made if it is missing. @param mode Of a new file. @throws What `Deno.openSync` throws. */
export function writeWithUmask(path: string, contents: Uint8Array | string, mode?: number): void {
  const bytes = typeof contents === "string" ? new TextEncoder().encode(contents) : contents;
  using file = openToWrite(path, { truncate: true, mode });
  writeAll(file, bytes);
}

/** Gives a new file the bits that the call's mask leaves and the process's has taken. */
function widen(path: string, mode: number): void {
  processMask ??= readProcessMask();
  if ((mode & processMask) !== 0) Deno.chmodSync(path, mode);
}
