/**
 * Writes the Python side of the bridge (`helper/`) to a directory of the daemon, from which Python runs it: the files
 * of an executable are in it, or where the daemon's user may not read. Python keeps its compiled code there, too.
 * @module
 */

import { lstatIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { compareStrings } from "#lib/values/value.ts";

/** The project's directory, or that of an executable. */
const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);

/** The directory of the helper's files below that. */
const HELPER = "lib/python_bridge/helper";

/** Hex digits of the digest in the name of a directory. */
const DIGITS = 16;

/** The helper's files by their paths below {@linkcode HELPER}, sorted. */
function helperFiles(): [string, Uint8Array][] {
  const visit = (below: string): [string, Uint8Array][] =>
    [...Deno.readDirSync(`${ROOT}${HELPER}/${below}`)].flatMap(({ name, isDirectory }) => {
      if (isDirectory) return name === "__pycache__" ? [] : visit(`${below}${name}/`);
      return [[`${below}${name}`, Deno.readFileSync(`${ROOT}${HELPER}/${below}${name}`)]];
    });
  return visit("").sort(([a], [b]) => compareStrings(a, b));
}

/**
 * Writes the files, unless they are there.
 * @param cachedir The daemon's cache directory.
 * @returns The directory, whose name has their digest: another version of this program uses another directory.
 */
export async function writeHelper(cachedir: string): Promise<string> {
  const files = helperFiles();
  const encoder = new TextEncoder();
  const parts = files.flatMap(([path, bytes]) => [encoder.encode(`${path}\0${bytes.length}\0`), bytes]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", joinBytes(parts))).toHex();
  const directory = `${cachedir}/python_bridge/${digest.slice(0, DIGITS)}`;
  const done = `${directory}/complete`;
  if (lstatIfExists(done) !== undefined) return directory;
  for (const [path, bytes] of files) writeFileAtomic(`${directory}/${path}`, bytes, { makeDirectory: true });
  writeFileAtomic(done, "");
  return directory;
}
