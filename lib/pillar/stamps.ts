/**
 * Stamps of paths: a short text that changes when the file at the path is changed, replaced, created or removed.
 * @module
 */

import { statOrUndefined } from "#lib/os/file_kind.ts";

/**
 * A file that changed less than this before its stamp was taken may change again without another stamp: the clock of
 * file systems has steps of up to 10 ms. In milliseconds.
 */
const UNSETTLED_MS = 50;

/** The stamp of a path; empty if there is nothing. */
export function stampOf(path: string): string {
  const info = statOrUndefined(path);
  if (info === undefined) return "";
  const { mtime, ctime, size, ino, isDirectory } = info;
  return [Number(mtime), Number(ctime), size, ino ?? 0, isDirectory].join(":");
}

/** Whether the file changed so recently that its stamp is not reliable. */
export function isUnsettled(path: string, nowMs: number): boolean {
  const info = statOrUndefined(path);
  if (info === undefined) return false;
  return Math.max(Number(info.mtime), Number(info.ctime)) > nowMs - UNSETTLED_MS;
}
