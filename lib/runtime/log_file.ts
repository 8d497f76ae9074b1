/**
 * Opens the log file: creates it with its mode, gives it to the service's user, and appends to it.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { lstatIfExists } from "#lib/os/atomic_file.ts";
import { isTrustedPath } from "#lib/os/trusted_path.ts";
import type { User } from "#lib/os/users.ts";

/** Mode of a new log file: not readable by others. */
const LOG_MODE = 0o640;

/**
 * Opens the log file `path` for appending, and creates it if needed. Root follows no link that belongs to another user:
 * a service that runs as root may log to a directory of another user.
 * @throws What `Deno.openSync` throws; `PermissionDenied` for such a link.
 */
export function openLogFile(path: string): Deno.FsFile {
  const isRoot = Deno.uid() === 0;
  if (lstatIfExists(path) === undefined) {
    const file = make(path);
    if (file !== undefined) return file;
  }
  const options = { append: true, create: !isRoot, mode: LOG_MODE };
  if (!isRoot) return Deno.openSync(path, options);
  refuseForeignLink(path);
  const file = Deno.openSync(path, options);
  try {
    // Another user may have changed the path between both checks.
    refuseForeignLink(path);
    const { dev, ino } = Deno.statSync(path), opened = file.statSync();
    if (dev !== opened.dev || ino !== opened.ino) {
      throw new Deno.errors.PermissionDenied(`${path} was replaced meanwhile`);
    }
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

/** Creates a file; `undefined` if it exists by now. */
function make(path: string): Deno.FsFile | undefined {
  try {
    const file = Deno.openSync(path, { append: true, createNew: true, mode: LOG_MODE });
    // Set the mode that the umask has reduced; but not as root in another user's directory, where the name may point
    // elsewhere by now.
    const owner = Deno.statSync(dirName(path)).uid;
    if (owner === Deno.uid()) Deno.chmodSync(path, LOG_MODE);
    return file;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return undefined;
    throw error;
  }
}

function refuseForeignLink(path: string): void {
  const { isSymlink, uid } = Deno.lstatSync(path);
  if (isSymlink && uid !== 0) throw new Deno.errors.PermissionDenied(`${path} is a link of another user's`);
}

/**
 * Creates, as root, the log file of a service that becomes `user`, if only root can create it, and gives it to that
 * user. Does nothing if users other than root control the path: then `user` creates it.
 * @throws What creating it throws.
 */
export function giveLogFile(path: string, user: User): void {
  if (!isTrustedPath(path, user)) return;
  const there = lstatIfExists(path);
  if (there === undefined) make(path)?.close();
  const { uid, isFile } = Deno.statSync(path);
  if (isFile && uid !== user.uid) Deno.chownSync(path, user.uid, user.gid);
}
