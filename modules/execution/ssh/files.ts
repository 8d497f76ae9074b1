/**
 * What the functions of the module `ssh` have in common: users, their files, and fingerprints.
 * Source: the functions of Salt 3008.3 `salt/modules/ssh.py`.
 * @module
 */

import type { Fingerprint } from "#lib/host/etc_files/authorized_keys.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { HASH_TYPES } from "#lib/crypto/hash_types.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { isLink } from "#lib/os/disk_paths.ts";
import { dirName } from "#lib/os/paths.ts";
import { CommandError } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { inDirectoryOf } from "#lib/os/held_path.ts";
import { isTrustedPath } from "#lib/os/trusted_path.ts";
import { createDirectory } from "#lib/os/new_files.ts";
import { findUser, type User } from "#lib/os/users.ts";
import { p } from "#lib/plugins/module.ts";

export const HASH = { fingerprint_hash_type: p.str(null) };

/** @throws {CommandError} If there is no such digest. */
export function fingerprints(hashType: string | null): Fingerprint {
  const type = (hashType || "sha256").toLowerCase();
  if (!HASH_TYPES.some((known) => known === type)) {
    throw new CommandError(`The fingerprint_hash_type ${type} is not supported.`);
  }
  return (key) => {
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key)) return undefined;
    return hashHex(Uint8Array.fromBase64(key), type).match(/../g)?.join(":");
  };
}

/** @throws {CommandError} If there is no such user. */
export function userOf(name: string): User {
  const user = findUser(name);
  if (user === undefined) throw new CommandError(`User '${name}' does not exist`);
  return user;
}

/** @throws {CommandError} If root would write where a link of the user's leads. */
export function refuseLinks(path: string, user: User | undefined): void {
  if (Deno.uid() !== 0 || user === undefined || user.uid === 0 || isTrustedPath(path, user)) return;
  for (let at = path; at.startsWith(`${user.home}/`) && at !== user.home; at = dirName(at)) {
    if (isLink(at)) throw new CommandError(`${at} is a symbolic link of a user's, which is not followed as root`);
  }
}

/** Writes a file of a user's, which belongs to the user if it is new. */
export function writeUsers(path: string, contents: string, user: User | undefined): void {
  refuseLinks(path, user);
  const owner = Deno.uid() === 0 ? user : undefined;
  replaceFile(path, new TextEncoder().encode(contents), { mode: 0o600, owner });
}

/** Makes a user's directory for files of ssh. */
export function makeUsersDirectory(path: string, user: User | undefined): void {
  if (isDirectory(path)) return;
  refuseLinks(path, user);
  createDirectory(path, { recursive: true });
  if (user === undefined) return;
  inDirectoryOf(path, (directory, name) => {
    // What the user may have put there meanwhile is not followed.
    using child = directory.enter(name);
    if (Deno.uid() === 0) Deno.chownSync(child.path, user.uid, user.gid);
    Deno.chmodSync(child.path, 0o700);
  });
}
