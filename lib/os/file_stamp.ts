/**
 * What a file looks like from outside: as long as its stamp is the same, so is what was read from it.
 * @module
 */

import { statIfExists } from "./atomic_file.ts";
import { isAnything } from "./file_kind.ts";

/**
 * The stamp of what is at `path`; of a link, of what it leads to; `undefined` if there is nothing. A file that is replaced
 * has another inode, and one that is written to another time of change; so has a directory that gets or loses a name.
 */
export function fileStamp(path: string): string | undefined {
  if (!isAnything(path)) return undefined;
  const info = statIfExists(path);
  return `${path} ${info?.dev} ${info?.ino} ${info?.size} ${info?.mtime?.getTime()} ${info?.ctime?.getTime()}`;
}
