/**
 * The log file as the system has it: made with its mode, given to the service's user, opened to be appended to.
 * @module
 */

import { isTrustedPath } from "../os/trusted_path.ts";
import type { User } from "../os/users.ts";

/** Mode of a new log file: others have no business in it. */
const LOG_MODE = 0o640;

/**
 * Opens the log file `path` to append to it; one that is not there is made.
 *
 * Root goes through no link that is another user's: a service that runs as root may log to a directory that is not root's.
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
    // Between the two looks somebody could have changed what is there.
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

/** A new file; `undefined` if there is one by now. */
function make(path: string): Deno.FsFile | undefined {
  try {
    const file = Deno.openSync(path, { append: true, createNew: true, mode: LOG_MODE });
    // Whatever the umask took, but for root in a directory of another's, where the name may lead elsewhere by now.
    const owner = Deno.statSync(path.slice(0, path.lastIndexOf("/")) || "/").uid;
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
 * Has root make the log file of a service that becomes `user`, if only root can, and give it to that user. Does nothing where
 * others than root decide what the path leads to: there that user makes it.
 * @throws What making it throws.
 */
export function giveLogFile(path: string, user: User): void {
  if (!isTrustedPath(path, user)) return;
  const there = lstatIfExists(path);
  if (there === undefined) make(path)?.close();
  const { uid, isFile } = Deno.statSync(path);
  if (isFile && uid !== user.uid) Deno.chownSync(path, user.uid, user.gid);
}

function lstatIfExists(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
