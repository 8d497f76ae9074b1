/**
 * Checks before a service opens its first socket: user, directories, socket paths, ports, file roots, limits. Each
 * failure is one clear line; minor problems are warnings. Creates missing directories; leaves nothing open. Steps that
 * do not need root run after the process has become the service's user.
 * Source: salt/utils/verify.
 * @module
 */

import { statIfExists } from "../os/atomic_file.ts";
import { LibcError, messageOf, PreflightError } from "../errors.ts";
import { checkPrivateKey, movedMasterKey } from "../keys/pair.ts";
import { procDirectory } from "../jobs/proc_notes.ts";
import { KEY_DIRECTORIES } from "../keys/store.ts";
import { raiseOpenFileLimit } from "../libc/libc.ts";
import { masterOptions, type MasterOpts, type MinionOpts } from "../config/options.ts";
import { giveLogFile, openLogFile } from "../process/log_file.ts";
import { userToBecome } from "../host/run_user.ts";
import { isTrustedPath } from "../os/trusted_path.ts";
import { findUser, type User } from "../os/users.ts";
import { equals, str, type ValueMap } from "../values/value.ts";
import { systemError } from "../os/deno_texts.ts";

/** Maximum path of a Unix socket, in bytes: the size of `sun_path` minus the final NUL. */
export const MAX_SOCKET_PATH = Deno.build.os === "linux" ? 107 : 103;

/** The longest socket name in each role's `sock_dir`. */
const LONGEST_SOCKET = { master: "master_event_pull.ipc", minion: "minion_event_0123456789_pull.ipc" } as const;

/** The state of a service that can start after {@linkcode finish}. */
export interface Ready {
  /** The user to become, permanently, before the rest is done; `undefined`: none. */
  readonly user: User | undefined;
  /** Whether root must write the pid file, because that user cannot. */
  readonly rootsPidFile: boolean;
  /**
   * Does the remaining checks, with that user's rights. @returns Warnings, one line each.
   * @throws {PreflightError} With the first problem.
   */
  finish(): string[];
}

/** Checks the host for a master, and does what only root can. @throws {PreflightError} With the first problem. */
export function preflightMaster(opts: MasterOpts): Ready {
  const user = userToBecome(opts.user);
  checkSocketPath(opts.sock_dir, LONGEST_SOCKET.master);
  const directories: Directory[] = [
    { option: "pki_dir", path: opts.pki_dir, mode: 0o700, wider: [0o750] },
    // Made here: if salt-key made them as root, another user could not read them.
    ...Object.values(KEY_DIRECTORIES).map((name) => ({
      option: "pki_dir",
      path: `${opts.pki_dir}/${name}`,
      mode: 0o700,
      wider: [0o750],
    })),
    // Users in publisher_acl enter these two by access control lists (lib/bus/acl_users.ts).
    { option: "cachedir", path: opts.cachedir, mode: 0o700, wider: [0o750] },
    // Python's salt-run, which may read the same directories, does not make it.
    { option: "cachedir", path: procDirectory(opts.cachedir), mode: 0o700, wider: [0o750, 0o755] },
    { option: "sock_dir", path: opts.sock_dir, mode: 0o700, wider: [] },
  ];
  if (user !== undefined) prepareAsRoot(opts, user, directories);
  const rootsPidFile = user !== undefined && isTrustedPath(opts.pidfile, user);
  const finish = () => {
    const warnings: string[] = [];
    prepareDirectories(opts, { user, directories, warnings });
    if (!rootsPidFile) checkWritable("pidfile", parent(opts.pidfile));
    checkPrivateKeys(opts, ["master", movedMasterKey(opts.id), opts.master_sign_key_name]);
    checkPorts(opts.interface, { publish_port: opts.publish_port, ret_port: opts.ret_port });
    checkFileRoots("file_roots", opts.file_roots, warnings);
    checkFileRoots("pillar_roots", opts.pillar_roots, warnings);
    checkOpenFiles(opts.max_open_files, `${opts.pki_dir}/minions`, warnings);
    return warnings;
  };
  return { user, rootsPidFile, finish };
}

/** Checks the host for a minion, and does what only root can. @throws {PreflightError} With the first problem. */
export function preflightMinion(opts: MinionOpts): Ready {
  const user = userToBecome(opts.user);
  checkSocketPath(opts.sock_dir, LONGEST_SOCKET.minion);
  const directories: Directory[] = [
    { option: "pki_dir", path: opts.pki_dir, mode: 0o700, wider: [0o750] },
    { option: "cachedir", path: opts.cachedir, mode: 0o700, wider: [0o750] },
    { option: "sock_dir", path: opts.sock_dir, mode: 0o700, wider: [] },
  ];
  if (user !== undefined) prepareAsRoot(opts, user, directories);
  const rootsPidFile = user !== undefined && isTrustedPath(opts.pidfile, user);
  const finish = () => {
    const warnings: string[] = [];
    prepareDirectories(opts, { user, directories, warnings });
    if (!rootsPidFile) checkWritable("pidfile", parent(opts.pidfile));
    checkPrivateKeys(opts, ["minion"]);
    if (opts.file_client === "local") {
      checkFileRoots("file_roots", opts.file_roots, warnings);
      checkFileRoots("pillar_roots", opts.pillar_roots, warnings);
    }
    checkOpenFiles(opts.max_open_files, undefined, warnings);
    return warnings;
  };
  return { user, rootsPidFile, finish };
}

/** @throws {PreflightError} If others may read one of these private keys. */
function checkPrivateKeys(opts: MasterOpts | MinionOpts, names: readonly string[]): void {
  for (const name of names) {
    try {
      checkPrivateKey(`${opts.pki_dir}/${name}.pem`, { permissive: opts.permissive_pki_access });
    } catch (error) {
      throw asPreflightError(error, "pki_dir");
    }
  }
}

/** Checks that the path of socket `name` in `sockDir` is short enough. @throws {PreflightError} If it is not. */
export function checkSocketPath(sockDir: string, name: string): void {
  const length = new TextEncoder().encode(`${sockDir}/${name}`).length;
  if (length > MAX_SOCKET_PATH) {
    throw new PreflightError(
      `sock_dir: ${sockDir} is too long: with ${name} it makes ${length} bytes, and a Unix socket's path has at most ` +
        `${MAX_SOCKET_PATH}; set sock_dir to a shorter path`,
    );
  }
}

interface Directory {
  readonly option: string;
  readonly path: string;
  /** Mode of a new directory. */
  readonly mode: number;
  /** An existing directory must have `mode` or one of these. */
  readonly wider: readonly number[];
}

interface Places {
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
function prepareAsRoot(opts: Places, user: User, directories: readonly Directory[]): void {
  if (!opts.verify_env) return;
  for (const { option, path, mode } of directories) {
    if (isTrustedPath(path, user)) makeDirectory(option, path, { mode, user });
  }
  for (const option of FILES) {
    const path = parent(opts[option]);
    // An existing directory such as /var/run keeps its owner.
    if (isTrustedPath(path, user)) makeDirectory(option, path, { mode: 0o755, user, keepOwner: true });
  }
  try {
    giveLogFile(opts.log_file, user);
  } catch (error) {
    throw asPreflightError(error, `log_file: ${opts.log_file} cannot be written`);
  }
}

/** Makes and checks the rest, with the service's rights. */
function prepareDirectories(
  opts: Places,
  { user, directories, warnings }: { user: User | undefined; directories: readonly Directory[]; warnings: string[] },
): void {
  if (opts.verify_env) {
    for (const directory of directories) {
      makeDirectory(directory.option, directory.path, { mode: directory.mode });
      if (user !== undefined) checkOwner(directory, user);
      else if (Deno.uid() === 0) warnOfOwners(directory, warnings);
      tighten(directory);
    }
    for (const option of FILES) makeDirectory(option, parent(opts[option]), { mode: 0o755 });
    try {
      openLogFile(opts.log_file).close();
    } catch (error) {
      throw asPreflightError(error, `log_file: ${opts.log_file} cannot be written`);
    }
  }
  for (const { option, path } of directories) checkWritable(option, path);
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

/**
 * @param as.user The owner of a new directory; default: this process's user. @param as.keepOwner Whether an existing
 * one keeps its owner.
 */
function makeDirectory(
  option: string,
  path: string,
  { mode, user, keepOwner = false }: { mode: number; user?: User; keepOwner?: boolean },
): void {
  try {
    const there = statIfExists(path);
    if (there !== undefined && !there.isDirectory) throw new PreflightError(`${option}: ${path} is no directory`);
    if (there === undefined) {
      makeParents(parent(path));
      Deno.mkdirSync(path, { mode });
      Deno.chmodSync(path, mode); // independent of the umask
    }
    if (user !== undefined && !(keepOwner && there !== undefined) && there?.uid !== user.uid) {
      Deno.chownSync(path, user.uid, user.gid);
    }
  } catch (error) {
    throw asPreflightError(error, `${option}: the directory ${path} cannot be made`);
  }
}

/** Makes missing parents of a directory, open to all, so that a service which has become another user can pass. */
function makeParents(path: string): void {
  if (path === "/" || statIfExists(path) !== undefined) return;
  makeParents(parent(path));
  Deno.mkdirSync(path, { mode: 0o755 });
  Deno.chmodSync(path, 0o755);
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
  try {
    const found = [{ entry: path, uid: Deno.statSync(path).uid ?? 0 }];
    for (const inner of Deno.readDirSync(path)) {
      const entry = `${path}/${inner.name}`;
      const uid = wanted(inner) ? uidIfExists(entry) : undefined;
      if (uid !== undefined) found.push({ entry, uid });
    }
    return found;
  } catch (error) {
    throw asPreflightError(error, `${option}: ${path} cannot be read`);
  }
}

/** The owner of an entry; `undefined` if it does not exist any more. */
function uidIfExists(entry: string): number | undefined {
  try {
    return Deno.lstatSync(entry).uid ?? 0;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function tighten({ option, path, mode, wider }: Directory): void {
  const now = (Deno.statSync(path).mode ?? 0) & 0o777;
  if (now === mode || wider.includes(now)) return;
  try {
    Deno.chmodSync(path, mode);
  } catch (error) {
    throw asPreflightError(error, `${option}: the mode of ${path} cannot be set to ${mode.toString(8)}`);
  }
}

/** Only writing a file proves that it is possible, because of mounts, quotas and ACLs. */
function checkWritable(option: string, path: string): void {
  try {
    Deno.removeSync(Deno.makeTempFileSync({ dir: path, prefix: ".preflight_" }));
  } catch (error) {
    throw asPreflightError(error, `${option}: nothing can be written in ${path}`);
  }
}

function asPreflightError(error: unknown, what: string): PreflightError {
  if (error instanceof PreflightError) return error;
  return new PreflightError(`${what}: ${reason(error)}`, { cause: error });
}

/** The system's reason without Deno's additions. */
function reason(error: unknown): string {
  if (error instanceof Deno.errors.PermissionDenied) return "no right to do so";
  if (error instanceof Deno.errors.NotFound) return "no such directory";
  return (error instanceof Error ? systemError(error)?.reason : undefined) ?? messageOf(error);
}

/** Checks that the ports are free; port 0 always is. @throws {PreflightError} With the first that is not. */
export function checkPorts(address: string, ports: Readonly<Record<string, number>>): void {
  const seen = new Map<number, string>();
  for (const [option, port] of Object.entries(ports)) {
    if (port === 0) continue;
    const other = seen.get(port);
    if (other !== undefined) throw new PreflightError(`${option}: ${port} is the port of ${other} already`);
    seen.set(port, option);
    try {
      Deno.listen({ hostname: address, port }).close();
    } catch (error) {
      throw new PreflightError(portProblem(error, { option, address, port }), { cause: error });
    }
  }
}

function portProblem(error: unknown, at: { option: string; address: string; port: number }): string {
  if (error instanceof Deno.errors.AddrInUse) {
    return `${at.option}: port ${at.port} on ${at.address} is taken. Is another master running?`;
  }
  if (error instanceof Deno.errors.AddrNotAvailable) {
    return `interface: ${at.address} is no address of this host`;
  }
  return `${at.option}: cannot listen on port ${at.port} of ${at.address}: ${reason(error)}`;
}

/** An existing root must be readable; a missing one is reported, unless it is an unset default. */
function checkFileRoots(option: "file_roots" | "pillar_roots", roots: ValueMap, warnings: string[]): void {
  if (equals(roots, masterOptions()[option].default)) return;
  for (const [env, paths] of roots) {
    for (const path of Array.isArray(paths) ? paths.map(str) : []) {
      try {
        for (const _ of Deno.readDirSync(path)) break;
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) {
          throw asPreflightError(error, `${option}: ${path} (${str(env)}) cannot be read`);
        }
        warnings.push(`${option}: ${path} (${str(env)}) does not exist`);
      }
    }
  }
}

/** Each minion takes descriptors of the master; as in Salt, four per accepted key must be available. */
function checkOpenFiles(wanted: number, acceptedKeys: string | undefined, warnings: string[]): void {
  let soft: number;
  try {
    soft = raiseOpenFileLimit(wanted).soft;
  } catch (error) {
    if (!(error instanceof LibcError)) throw error;
    warnings.push(`max_open_files: the limit on open files cannot be raised to ${wanted}: ${error.message}`);
    return;
  }
  const keys = acceptedKeys === undefined ? 0 : countFiles(acceptedKeys);
  if (keys * 4 > soft) {
    warnings.push(
      `max_open_files: ${keys} accepted keys want ${
        keys * 4
      } open files, the limit is ${soft}; raise it for this service`,
    );
  }
}

function countFiles(path: string): number {
  try {
    return [...Deno.readDirSync(path)].length;
  } catch {
    return 0;
  }
}
