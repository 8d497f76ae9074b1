/**
 * Stamps of paths: a short text that is another one when what is at the path was changed, replaced, made or removed.
 * @module
 */

/**
 * A file that changed less than this before it was looked at may change again without another stamp: the clock of file
 * systems has steps of up to 10 ms. In milliseconds.
 */
const UNSETTLED_MS = 50;

/** The stamp of a path; empty if there is nothing. */
export function stampOf(path: string): string {
  const info = stat(path);
  if (info === undefined) return "";
  const { mtime, ctime, size, ino, isDirectory } = info;
  return [Number(mtime), Number(ctime), size, ino ?? 0, isDirectory].join(":");
}

/** Whether what is at the path changed so short a time ago that its stamp says nothing. */
export function isUnsettled(path: string, nowMs: number): boolean {
  const info = stat(path);
  if (info === undefined) return false;
  return Math.max(Number(info.mtime), Number(info.ctime)) > nowMs - UNSETTLED_MS;
}

function stat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined; // not there, or not to be seen: then reading it tells why
  }
}
