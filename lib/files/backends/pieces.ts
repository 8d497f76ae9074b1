/**
 * Reads pieces of files and computes digests of whole files, without blocking the thread and with the memory of one
 * piece.
 * @module
 */

import { digestOf, streamingHash } from "#lib/crypto/hash.ts";
import { type AsyncHash, hashInThread } from "#lib/crypto/hash_in_thread.ts";

/** Bytes that are digested at once. */
const DIGESTED = 1 << 20;

/**
 * Reads at most `length` bytes of the file `path` from `at` on; none at or after its end.
 * @throws Errors of the system.
 */
export async function readPiece(path: string, at: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  using file = await Deno.open(path);
  const { size, isFile } = await file.stat();
  const wanted = isFile ? Math.max(0, Math.min(length, size - at)) : length;
  if (wanted === 0) return new Uint8Array();
  if (at > 0) await file.seek(at, Deno.SeekMode.Start);
  const bytes = new Uint8Array(wanted);
  return bytes.subarray(0, await fill(file, bytes));
}

/** Bytes up to which a file is read and digested at once: that takes less time than to wait for another thread. */
export const SMALL = 1 << 16;

/**
 * The same as {@linkcode digestFile}, at once: for a file that is not larger than {@linkcode SMALL}.
 * @returns `undefined` for another `hashType`.
 */
export function digestSmallFile(path: string, hashType: string): string | undefined {
  const bytes = Deno.readFileSync(path);
  const hash = streamingHash(hashType, { size: bytes.length });
  hash?.update(bytes);
  return hash?.digest().toHex();
}

/**
 * The digest of the file `path`, in hexadecimal digits.
 * @throws What the system throws.
 * @throws {ConfigError} For another `hashType`.
 */
export async function digestFile(path: string, hashType: string): Promise<string> {
  using file = await Deno.open(path);
  const { size } = await file.stat();
  const buffer = new Uint8Array(Math.max(1, Math.min(DIGESTED, size)));
  if (size <= DIGESTED) {
    const length = await fill(file, buffer);
    const digest = await digestOf(buffer.subarray(0, length), hashType);
    if (digest !== undefined && await file.read(new Uint8Array(1)) === null) return digest.toHex();
    await file.seek(0, Deno.SeekMode.Start); // it has grown
  }
  using hash: AsyncHash = hashInThread(hashType);
  for (;;) {
    const length = await fill(file, buffer);
    if (length === 0) break;
    await hash.update(buffer.subarray(0, length));
  }
  return hash.digest().toHex();
}

/**
 * Reads until `bytes` is full or the file ends.
 * @returns The number of bytes.
 */
async function fill(file: Deno.FsFile, bytes: Uint8Array): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    const read = await file.read(bytes.subarray(length));
    if (read === null) break;
    length += read;
  }
  return length;
}
