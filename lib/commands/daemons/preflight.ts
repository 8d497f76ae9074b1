/**
 * Checks before a service opens its first socket: user, directories, socket paths, ports, file roots, limits. Each
 * failure is one clear line; minor problems are warnings. Creates missing directories; leaves nothing open. Steps that
 * do not need root run after the process has become the service's user.
 * Source: salt/utils/verify.
 * @module
 */

import { checkWritable, type Directory, parent, prepareAsRoot, prepareDirectories } from "./directories.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { LibcError, PreflightError } from "#lib/errors.ts";
import { checkPrivateKey, movedMasterKey } from "#lib/keys/pair.ts";
import { procDirectory } from "#lib/jobs/proc_notes.ts";
import { KEY_DIRECTORIES } from "#lib/keys/store.ts";
import { raiseOpenFileLimit } from "#lib/libc/libc.ts";
import { masterOptions, type MasterOpts, type MinionOpts } from "#lib/config/options.ts";
import { userToBecome } from "#lib/programs/run_user.ts";
import { isTrustedPath } from "#lib/os/trusted_path.ts";
import type { User } from "#lib/os/users.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { equals, str, type ValueMap } from "#lib/values/value.ts";
import { orProblem, reason } from "./preflight_problems.ts";

/** Maximum path of a Unix socket, in bytes: the size of `sun_path` minus the final NUL. */
export const MAX_SOCKET_PATH = Deno.build.os === "linux" ? 107 : 103;

/** The state of a service that can start after {@linkcode finish}. */
export interface Ready {
  /** The user to become, permanently, before the rest is done; `undefined`: none. */
  readonly user: User | undefined;
  /** Whether root must write the pid file, because that user cannot. */
  readonly rootsPidFile: boolean;
  /**
   * Does the remaining checks, with that user's rights.
   * @returns Warnings, one line each.
   * @throws {PreflightError} With the first problem.
   */
  finish(): string[];
}

/**
 * Checks the host for a master, and does the steps that need root.
 * @throws {PreflightError} With the first problem.
 */
export function preflightMaster(opts: MasterOpts): Ready {
  return preflight(opts, {
    longestSocket: "master_event_pull.ipc",
    directories: [
      // Made here: if salt-key made them as root, another user could not read them.
      ...Object.values(KEY_DIRECTORIES).map((name) => ({ ...OWN, option: "pki_dir", path: `${opts.pki_dir}/${name}` })),
      // Python's salt-run, which may read the same directories, does not make it.
      { ...OWN, option: "cachedir", path: procDirectory(opts.cachedir), wider: [0o750, 0o755] },
    ],
    check: (warnings) => {
      checkPrivateKeys(opts, ["master", movedMasterKey(opts.id), opts.master_sign_key_name]);
      checkPorts(opts.interface, { publish_port: opts.publish_port, ret_port: opts.ret_port });
      checkAllFileRoots(opts, warnings);
      checkOpenFiles(opts.max_open_files, acceptedKeys(opts), warnings);
    },
  });
}

/**
 * Checks the host for a minion, and does the steps that need root.
 * @throws {PreflightError} With the first problem.
 */
export function preflightMinion(opts: MinionOpts): Ready {
  return preflight(opts, {
    longestSocket: "minion_event_0123456789_pull.ipc",
    directories: [],
    check: (warnings) => {
      checkPrivateKeys(opts, ["minion"]);
      if (opts.file_client === "local") checkAllFileRoots(opts, warnings);
      checkOpenFiles(opts.max_open_files, 0, warnings);
    },
  });
}

/**
 * Checks the host for the API of a master, and does the steps that need root.
 * @throws {PreflightError} With the first problem.
 */
export function preflightApi(opts: MasterOpts): Ready {
  return preflight(opts, {
    longestSocket: "master_event_pull.ipc",
    directories: [],
    check: (warnings) => checkOpenFiles(opts.max_open_files, 0, warnings),
  });
}

/** The checks that the services have in different forms. */
interface RoleChecks {
  /** The longest name of a socket in its `sock_dir`. */
  readonly longestSocket: string;
  /** Its directories besides the three that both have. */
  readonly directories: readonly Directory[];
  /**
   * Checks the rest, with the service's rights.
   * @throws {PreflightError} With the first problem.
   */
  check(warnings: string[]): void;
}

/**
 * A directory that no other user enters; users in publisher_acl enter the master's by access control lists
 * (lib/bus/acl_users.ts).
 */
const OWN = { mode: 0o700, wider: [0o750] } as const;

function preflight(opts: MasterOpts | MinionOpts, { longestSocket, directories: more, check }: RoleChecks): Ready {
  const user = userToBecome(opts.user);
  checkSocketPath(opts.sock_dir, longestSocket);
  const directories: readonly Directory[] = [
    { ...OWN, option: "pki_dir", path: opts.pki_dir },
    { ...OWN, option: "cachedir", path: opts.cachedir },
    ...more,
    { ...OWN, option: "sock_dir", path: opts.sock_dir, wider: [] },
  ];
  if (user !== undefined) prepareAsRoot(opts, user, directories);
  const rootsPidFile = user !== undefined && isTrustedPath(opts.pidfile, user);
  const finish = () => {
    const warnings = prepareDirectories(opts, user, directories);
    if (!rootsPidFile) checkWritable("pidfile", parent(opts.pidfile));
    check(warnings);
    return warnings;
  };
  return { user, rootsPidFile, finish };
}

/** @throws {PreflightError} If others may read one of these private keys. */
function checkPrivateKeys(opts: MasterOpts | MinionOpts, names: readonly string[]): void {
  for (const name of names) {
    const permissive = opts.permissive_pki_access;
    orProblem("pki_dir", () => checkPrivateKey(`${opts.pki_dir}/${name}.pem`, { permissive }));
  }
}

/**
 * Checks that the path of socket `name` in `sockDir` is short enough.
 * @throws {PreflightError} If it is not.
 */
export function checkSocketPath(sockDir: string, name: string): void {
  const length = new TextEncoder().encode(`${sockDir}/${name}`).length;
  if (length > MAX_SOCKET_PATH) {
    throw new PreflightError(
      `sock_dir: ${sockDir} is too long: with ${name} it makes ${length} bytes, and a Unix socket's path has at most ` +
        `${MAX_SOCKET_PATH}; set sock_dir to a shorter path`,
    );
  }
}

/**
 * Checks that the ports are free; port 0 always is.
 * @throws {PreflightError} With the first that is not.
 */
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

function checkAllFileRoots(opts: MasterOpts | MinionOpts, warnings: string[]): void {
  checkFileRoots("file_roots", opts.file_roots, warnings);
  checkFileRoots("pillar_roots", opts.pillar_roots, warnings);
}

/** An existing root must be readable; a missing one is reported, unless it is an unset default. */
function checkFileRoots(option: "file_roots" | "pillar_roots", roots: ValueMap, warnings: string[]): void {
  if (equals(roots, masterOptions()[option].default)) return;
  for (const [env, paths] of roots) {
    for (const path of listOrEmpty(paths).map(str)) {
      const root = `${option}: ${path} (${str(env)})`;
      orProblem(`${root} cannot be read`, () => {
        if (statIfExists(path) === undefined) warnings.push(`${root} does not exist`);
        else for (const _ of Deno.readDirSync(path)) break;
      });
    }
  }
}

/**
 * Each minion takes descriptors of the master; as in Salt, four for each of `keys`, the accepted ones, must be
 * available.
 */
function checkOpenFiles(wanted: number, keys: number, warnings: string[]): void {
  let soft: number;
  try {
    soft = raiseOpenFileLimit(wanted).soft;
  } catch (error) {
    if (!(error instanceof LibcError)) throw error;
    warnings.push(`max_open_files: the limit on open files cannot be raised to ${wanted}: ${error.message}`);
    return;
  }
  if (keys * 4 > soft) {
    warnings.push(
      `max_open_files: ${keys} accepted keys want ${
        keys * 4
      } open files, the limit is ${soft}; raise it for this service`,
    );
  }
}

function acceptedKeys({ pki_dir }: MasterOpts): number {
  const path = `${pki_dir}/minions`;
  return orProblem(`pki_dir: ${path} cannot be read`, () => [...Deno.readDirSync(path)].length);
}
