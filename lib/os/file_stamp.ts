/**
 * Stamps of files (inode, size, times): while a stamp is the same, the contents are the same.
 * @module
 */

import { statIfExists } from "./atomic_file.ts";
import { lexists } from "./file_kind.ts";

/**
 * The stamp of the file or directory at `path`, or at the target of a link; `undefined` if there is none. A file that
 * is replaced has another inode, and one that is written to another time of change; the same holds for a directory that
 * gets or loses an entry.
 */
export function fileStamp(path: string): string | undefined {
  if (!lexists(path)) return undefined;
  const info = statIfExists(path);
  return `${path} ${info?.dev} ${info?.ino} ${info?.size} ${info?.mtime?.getTime()} ${info?.ctime?.getTime()}`;
}
