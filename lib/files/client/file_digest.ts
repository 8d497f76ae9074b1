/**
 * Digests of files of any size, a block at a time, without blocking the thread.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { digestOf, streamingHash } from "#lib/crypto/hash.ts";
import type { FileHash } from "./file_client.ts";

/** Bytes that are read at once. */
const BLOCK = 1 << 20;
/** Bytes up to which a file is read and digested at once: that takes less time than to wait for another thread. */
const SMALL = 1 << 16;

/**
 * The digest of the file at `path`.
 * @throws {CommandError} If there is no such digest.
 * @throws What Deno throws if the file cannot be read.
 */
export async function fileDigest(path: string, hashType: string): Promise<FileHash> {
  const { size, isFile } = Deno.statSync(path);
  const bytes = !isFile || size > BLOCK
    ? undefined
    : size > SMALL
    ? await Deno.readFile(path)
    : Deno.readFileSync(path);
  const digest = bytes === undefined ? await blockByBlock(path, hashType) : await digestOf(bytes, hashType);
  if (digest === undefined) throw new CommandError(`Files cannot be verified by ${hashType} digests`);
  return { hashType, hsum: digest.toHex() };
}

async function blockByBlock(path: string, hashType: string): Promise<Uint8Array | undefined> {
  using file = await Deno.open(path);
  const { size } = await file.stat();
  const hash = streamingHash(hashType, { size });
  if (hash === undefined) return undefined;
  const block = new Uint8Array(Math.max(1, Math.min(BLOCK, size)));
  for (let length = await file.read(block); length !== null; length = await file.read(block)) {
    hash.update(block.subarray(0, length));
  }
  return hash.digest();
}

/** Whether two digests are the same. */
export function sameHash(a: FileHash | undefined, b: FileHash | undefined): boolean {
  return a !== undefined && a.hashType === b?.hashType && a.hsum === b.hsum;
}
