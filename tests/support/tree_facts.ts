/**
 * Describes a directory tree, a line for each entry: type, mode, owner, modification time, inode, and content.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { compareStrings } from "#lib/values/value.ts";

/**
 * The lines, sorted by path. The time is that of the last write; an entry that is created and removed again changes the
 * time of its directory.
 */
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
