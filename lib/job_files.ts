/**
 * The files of the job cache, as files: what a directory holds, what a msgpack file holds, how old one is, and the removal
 * of old jobs. A part of job_cache.ts, which knows what they mean.
 * @module
 */

import { readFileIfExists } from "./atomic_file.ts";
import { decode } from "./msgpack.ts";
import { compareStrings, type Value } from "./value.ts";

/** Hears of what cannot be read, removed or stored. */
export type CacheLog = (message: string) => void;

/** How old a job without its `jid` file must be before it is taken for a ruin, in milliseconds. */
const UNFINISHED_MS = 60_000;

/** Whether there is a regular file at `path`. */
export function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** What a directory holds, sorted by name; nothing if it is not there. */
export function listDirectory(path: string, log: CacheLog): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(path)].sort((a, b) => compareStrings(a.name, b.name));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
      log(`Cannot read ${path}: ${reason(error)}`);
    }
    return [];
  }
}

/** The value in a msgpack file; `undefined` if it is not there, or cannot be read, which the log is told. */
export function readValue(path: string, log: CacheLog): Value | undefined {
  try {
    const bytes = readFileIfExists(path);
    return bytes === undefined ? undefined : decode(bytes, "disk");
  } catch (error) {
    log(`Cannot read ${path}: ${reason(error)}`);
    return undefined;
  }
}

/**
 * Writes a file, whole, that nobody else has written.
 * @param temporary A name, in the same directory, that nobody else uses.
 * @returns Whether it was this call that wrote it.
 */
export function writeOnce(path: string, bytes: Uint8Array, temporary: string): boolean {
  Deno.writeFileSync(temporary, bytes, { mode: 0o600 });
  try {
    Deno.linkSync(temporary, path);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    Deno.renameSync(temporary, path); // a file system without hard links
    return true;
  } finally {
    remove(temporary, () => {});
  }
  return true;
}

/** Removes the jobs below `root` that {@linkcode JobCache.clean} is to remove. @returns How many those were. */
export function cleanJobs(root: string, limits: { nowMs: number; keepSeconds: number; log: CacheLog }): number {
  const { nowMs, keepSeconds, log } = limits;
  const oldestMs = nowMs - keepSeconds * 1000;
  let removed = 0;
  for (const top of listDirectory(root, log)) {
    const parent = `${root}/${top.name}`;
    const jobs = listDirectory(parent, log);
    let left = jobs.length;
    for (const { name } of jobs) {
      const directory = `${parent}/${name}`;
      const madeMs = changedMs(`${directory}/jid`);
      const keep = madeMs === undefined
        ? (changedMs(directory) ?? nowMs) >= nowMs - UNFINISHED_MS // its maker may still be at it
        : madeMs >= oldestMs;
      if (!keep && remove(directory, log, { recursive: true })) {
        left--;
        removed++;
      }
    }
    // Not recursive, so that a job which is being made in it this moment keeps it.
    if (left === 0 && (jobs.length > 0 || (changedMs(parent) ?? nowMs) < oldestMs)) remove(parent, () => {});
  }
  return removed;
}

/** Removes the files in a directory that were not changed since `oldestMs`, milliseconds since the epoch. */
export function cleanFiles(directory: string, oldestMs: number, log: CacheLog): void {
  for (const { name } of listDirectory(directory, log)) {
    const path = `${directory}/${name}`;
    if ((changedMs(path) ?? oldestMs) < oldestMs) remove(path, log);
  }
}

function remove(path: string, log: CacheLog, options: { recursive?: boolean } = {}): boolean {
  try {
    Deno.removeSync(path, options);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) log(`Cannot remove ${path}: ${reason(error)}`);
    return false;
  }
}

/** When a file was last changed, in milliseconds since the epoch; `undefined` if it is not there. */
export function changedMs(path: string): number | undefined {
  try {
    return Deno.statSync(path).mtime?.getTime();
  } catch {
    return undefined;
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
