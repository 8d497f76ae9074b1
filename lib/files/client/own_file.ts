/**
 * A file of this host's own file server, copied from where it is: no pieces, no lock.
 * @module
 */

import { digestOf } from "#lib/crypto/hash.ts";
import type { FileHash } from "./file_client.ts";
import { inDirectory } from "./placing.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import { writeAll } from "#lib/os/write_all.ts";

/** Maximum size of a file that is copied this way, because the copy blocks the thread. */
const LARGEST = 1 << 20;

/**
 * Copies a small file, verifies the copy, and lets `place` move it to where it belongs.
 * @returns What `place` returns; `undefined` if the file is large, does not exist any more, or does not have the digest
 * `hash`: then it is fetched in pieces.
 */
export async function copyOwnFile<T>(
  from: string,
  { cachedir, hash }: { readonly cachedir: string; readonly hash: FileHash },
  place: (path: string) => Promise<T>,
): Promise<T | undefined> {
  const bytes = smallFile(from);
  if (bytes === undefined || (await digestOf(bytes, hash.hashType))?.toHex() !== hash.hsum) return undefined;
  const directory = `${cachedir}/transfers`;
  const copy = `${directory}/${crypto.randomUUID()}.part`;
  try {
    using file = inDirectory(directory, () => Deno.openSync(copy, { write: true, createNew: true, mode: 0o600 }));
    writeAll(file, bytes);
    return await place(copy);
  } catch (error) {
    removeIfExists(copy);
    throw error;
  }
}

/** The bytes of a small file; `undefined` of a large one, and if it cannot be read. */
function smallFile(path: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size <= LARGEST ? Deno.readFileSync(path) : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return undefined;
  }
}
