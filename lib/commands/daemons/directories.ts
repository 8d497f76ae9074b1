/**
 * The directories of a service: made before it starts, by root as far as its user cannot, and checked.
 * Source: salt/utils/verify (`verify_env`).
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { lstatIfExists, statIfExists } from "#lib/os/atomic_file.ts";
import { PreflightError } from "#lib/errors.ts";
import { giveLogFile, openLogFile } from "#lib/runtime/log_file.ts";
import { makeSharedDirectory } from "#lib/os/shared_parents.ts";
import { isTrustedPath } from "#lib/os/trusted_path.ts";
import { findUser, type User } from "#lib/os/users.ts";
import { orProblem } from "./preflight_problems.ts";

/** A directory that a service needs. */
export interface Directory {
  /** The option that names it, for texts. */
  readonly option: string;
  readonly path: string;
  /** Mode of a new directory. */
  readonly mode: number;
  /** An existing directory must have `mode` or one of these. */
  readonly wider: readonly number[];
}

/** The options for places that are no directories of the service alone. */
export interface PlaceOptions {
  readonly verify_env: boolean;
  readonly log_file: string;
  readonly pidfile: string;
}

/** Options for single files, whose directories may be shared. */
const FILES = ["log_file", "pidfile"] as const;

/**
 * Makes directories that `user` cannot make, and gives them to that user. Only where root alone controls the path: in a
 * directory of that user, root would make and give away the target of a link.
 */
export function prepareAsRoot(opts: PlaceOptions, user: User, directories: readonly Directory[]): void {
  if (!opts.verify_env) return;
  for (const { option, path, mode } of directories) {
    if (isTrustedPath(path, user)) makeDirectory(option, path, { mode, user });
  }
  for (const option of FILES) {
    const path = parent(opts[option]);
    // An existing directory such as /var/run keeps its owner.
    if (isTrustedPath(path, user)) makeDirectory(option, path, { mode: 0o755, user, keepOwner: true });
  }
  orProblem(`log_file: ${opts.log_file} cannot be written`, () => giveLogFile(opts.log_file, user));
}

/**
 * Makes and checks the rest, with the service's rights.
 * @param user The user that the process has become; `undefined`: it stays who it was.
 * @returns Warnings, one line each.
 * @throws {PreflightError} With the first problem.
 */
export function prepareDirectories(
  opts: PlaceOptions,
  user: User | undefined,
  directories: readonly Directory[],
): string[] {
  const warnings: string[] = [];
  if (opts.verify_env) {
    for (const directory of directories) {
      makeDirectory(directory.option, directory.path, { mode: directory.mode });
      if (user !== undefined) checkOwner(directory, user);
      else if (Deno.uid() === 0) warnOfOwners(directory, warnings);
      tighten(directory);
    }
    for (const option of FILES) makeDirectory(option, parent(opts[option]), { mode: 0o755 });
    orProblem(`log_file: ${opts.log_file} cannot be written`, () => openLogFile(opts.log_file).close());
  }
  for (const { option, path } of directories) checkWritable(option, path);
  return warnings;
}

/** The directory of a file. */
export function parent(path: string): string {
  return dirName(path);
}

/**
 * @param as.user The owner of a new directory; default: this process's user.
 * @param as.keepOwner Whether an existing one keeps its owner.
 */
function makeDirectory(
  option: string,
  path: string,
  { mode, user, keepOwner = false }: { mode: number; user?: User; keepOwner?: boolean },
): void {
  orProblem(`${option}: the directory ${path} cannot be made`, () => {
    const there = statIfExists(path);
    if (there !== undefined && !there.isDirectory) throw new PreflightError(`${option}: ${path} is no directory`);
    if (there === undefined) {
      makeSharedDirectory(parent(path));
      Deno.mkdirSync(path, { mode });
      Deno.chmodSync(path, mode); // independent of the umask
    }
    if (user !== undefined && !(keepOwner && there !== undefined) && there?.uid !== user.uid) {
      Deno.chownSync(path, user.uid, user.gid);
    }
  });
}

/**
 * Files that root left in the directory would be unreadable for `user`. Their owner is not changed: the operator must
 * decide about `chown`.
 */
function checkOwner({ option, path }: Directory, user: User): void {
  for (const { entry, uid } of owners(option, path, () => true)) {
    if (uid === user.uid) continue;
    throw new PreflightError(
      `${option}: ${entry} belongs to another user than ${user.name}; chown -R ${user.name} ${path}`,
    );
  }
}

/** Warns if root runs a service in directories of other users, who control where its paths lead. */
function warnOfOwners({ option, path }: Directory, warnings: string[]): void {
  for (const { entry, uid } of owners(option, path, ({ isFile }) => !isFile)) {
    if (uid === 0) continue;
    const name = findUser(uid)?.name ?? `user ${uid}`;
    warnings.push(
      `${option}: ${entry} belongs to ${name}, who can redirect the paths of this service, which runs as root; chown -R root ${path}`,
    );
    return;
  }
}

/** The owners of a directory and of its `wanted` entries. */
function owners(
  option: string,
  path: string,
  wanted: (entry: Deno.DirEntry) => boolean,
): { entry: string; uid: number }[] {
  return orProblem(`${option}: ${path} cannot be read`, () => {
    const owners = [{ entry: path, uid: Deno.statSync(path).uid ?? 0 }];
    for (const inner of Deno.readDirSync(path)) {
      const entry = `${path}/${inner.name}`;
      const uid = wanted(inner) ? lstatIfExists(entry)?.uid : undefined;
      if (typeof uid === "number") owners.push({ entry, uid });
    }
    return owners;
  });
}

function tighten({ option, path, mode, wider }: Directory): void {
  const now = (Deno.statSync(path).mode ?? 0) & 0o777;
  if (now === mode || wider.includes(now)) return;
  orProblem(
    `${option}: the mode of ${path} cannot be set to ${mode.toString(8)}`,
    () => Deno.chmodSync(path, mode),
  );
}

/**
 * Writes a file: nothing else proves that it is possible, because of mounts, quotas and ACLs.
 * @throws {PreflightError} If the directory cannot be written.
 */
export function checkWritable(option: string, path: string): void {
  orProblem(
    `${option}: nothing can be written in ${path}`,
    () => Deno.removeSync(Deno.makeTempFileSync({ dir: path, prefix: ".preflight_" })),
  );
}
