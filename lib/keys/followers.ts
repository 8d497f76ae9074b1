/**
 * The minions that have signed in since the next key pair of their master was announced, and follow it or trust it: the
 * others are those that still need the old one. A file for each, empty, in a directory of that pair, written once.
 * @module
 */

import { fingerprint } from "#lib/crypto/pem.ts";
import { removeIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";

function directoryOf(cachedir: string): string {
  return `${cachedir}/next_master`;
}

/** Of one pair. */
function pairDirectory(cachedir: string, pem: string): string {
  return `${directoryOf(cachedir)}/${fingerprint(pem, "sha256").replaceAll(":", "").slice(0, 32)}`;
}

/** @param announced The public key of the next pair; `undefined`: there is none, and nothing is noted. */
export function noteFollower(id: string, announced: string | undefined, cachedir: string): void {
  if (announced === undefined) return;
  const path = `${pairDirectory(cachedir, announced)}/${id}`;
  if (statIfExists(path) === undefined) writeFileAtomic(path, "", { mode: 0o600, makeDirectory: true });
}

/** Whether `id` is noted for the pair with this public key. */
export function isFollower(id: string, announced: string, cachedir: string): boolean {
  return isFile(`${pairDirectory(cachedir, announced)}/${id}`);
}

/** Notes that `id` needs the old key again. Does nothing without a pair. */
export function forgetFollower(id: string, announced: string | undefined, cachedir: string): void {
  if (announced !== undefined) removeIfExists(`${pairDirectory(cachedir, announced)}/${id}`);
}

/** The ids that were noted for the pair with this public key. */
export function followersOf(cachedir: string, pem: string): Set<string> {
  try {
    const entries = Deno.readDirSync(pairDirectory(cachedir, pem));
    return new Set(Array.from(entries, ({ name }) => name).filter(isValidId));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Set();
    throw error;
  }
}

/** Forgets the followers of a pair that everybody has. */
export function forgetFollowers(cachedir: string, pem: string): void {
  for (const id of followersOf(cachedir, pem)) removeIfExists(`${pairDirectory(cachedir, pem)}/${id}`);
}
