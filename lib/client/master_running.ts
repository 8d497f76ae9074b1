/**
 * Whether a master is running on this host: checks the socket of the Publisher, or, for users who may not connect to
 * it, the event bus.
 * @module
 */

import { NoMasterError } from "#lib/errors.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { publishPullPath } from "#lib/config/master_paths.ts";

/**
 * Whether a master is running; the socket file of a killed one does not count.
 * @throws {Deno.errors.PermissionDenied} If this user may not find out.
 */
export async function isMasterRunning(sockDir: string): Promise<boolean> {
  const path = publishPullPath(sockDir);
  const listens = await answers(path) ?? await answers(masterBus(sockDir).pub);
  // The error text of the system does not name the file.
  if (listens === undefined) throw new Deno.errors.PermissionDenied(`no right to reach the master at ${path}`);
  return listens;
}

/** Whether a process listens on the Unix socket `path`; `undefined` if this user has no permission to find out. */
async function answers(path: string): Promise<boolean | undefined> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return undefined;
    const gone = [Deno.errors.NotFound, Deno.errors.ConnectionRefused].some((kind) => error instanceof kind);
    if (!gone) throw error;
    return false;
  }
}

/**
 * Checks that a master is running on this host.
 * @throws {NoMasterError} If none does.
 */
export async function checkMasterRunning(sockDir: string): Promise<void> {
  if (await isMasterRunning(sockDir)) return;
  throw new NoMasterError(
    `Unable to connect to the salt master publisher at ${sockDir}: no salt-master of this configuration is running`,
  );
}

/**
 * The same for users who may send requests without access to the master's sockets: for them it checks nothing.
 * @throws {NoMasterError} If none does.
 */
export async function checkMasterIfAllowed(sockDir: string): Promise<void> {
  try {
    await checkMasterRunning(sockDir);
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
  }
}
