/**
 * The dropfile: `salt-key` uses it to ask a running master for a new shared AES key, so that a minion whose key was
 * deleted or rejected cannot read later publishes. Maintenance checks for it.
 * Source: docs/protocol.md "The shared key and session keys"; Salt's `salt/crypt.py` (dropfile).
 * @module
 */

import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { giveToOwnerOf } from "#lib/os/held_path.ts";

/** The dropfile's name in the master's cache directory. */
export const DROPFILE = ".dfn";

/** The options of a master that a rotation of its key depends on. */
export interface RotationOpts {
  readonly rotate_aes_key: boolean;
  readonly cachedir: string;
  readonly id: string;
  readonly cluster_id: string | null;
}

/**
 * Asks the master with this cache directory and id to replace its AES key; an existing request stays. The file gets the
 * mode that Maintenance requires, and the owner of the cache directory, who must read it.
 * @throws {Deno.errors.PermissionDenied} If the directory is not writable.
 */
export function writeDropfile(cachedir: string, masterId: string): void {
  const path = `${cachedir}/${DROPFILE}`;
  try {
    if (Deno.lstatSync(path).isFile) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  Deno.mkdirSync(cachedir, { recursive: true });
  writeFileAtomic(path, masterId, { mode: 0o400 });
  giveToOwnerOf(cachedir, path);
}

/**
 * Asks for a new AES key as {@linkcode writeDropfile} does, unless the option `rotate_aes_key` is off. In a cluster the
 * change of the key has done it for all masters.
 */
export function requestRotation({ rotate_aes_key: allowed, cachedir, id, cluster_id }: RotationOpts): void {
  if (allowed && !cluster_id) writeDropfile(cachedir, id);
}
