/**
 * Everything that can be told of a directory tree, a line for each entry: kind, mode, owner, time of change, inode, and what is in it.
 * @module
 */

import { hashHex } from "../../lib/crypto/hash.ts";
import { compareStrings } from "../../lib/values/value.ts";

/** The lines, sorted by path. Times are those of the last write; an entry that is made and removed again changes its directory's. */
export function treeFacts(root: string): string[] {
  const lines: string[] = [];
  const add = (path: string): void => {
    const info = Deno.lstatSync(path);
    const facts = [path, info.mode?.toString(8), `${info.uid}:${info.gid}`, info.mtime?.getTime(), info.ino];
    if (info.isSymlink) facts.push(Deno.readLinkSync(path));
    else if (info.isFile) facts.push(hashHex(Deno.readFileSync(path), "sha256"));
    lines.push(facts.join(" "));
    if (!info.isDirectory) return;
    for (const { name } of [...Deno.readDirSync(path)].sort((a, b) => compareStrings(a.name, b.name))) {
      add(`${path}/${name}`);
    }
  };
  add(root);
  return lines;
}
