/**
 * Where the returns of a minion wait: `<cachedir>/returns`, and if it has several masters at once, a directory below
 * for each, since a return goes to the master that gave the job.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { messageOf } from "#lib/errors.ts";
import { directoriesIn } from "#lib/os/directory_names.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** The names of the directories of single masters. */
const OF_MASTER = /^[0-9a-f]{16}$/;

/** Whether `name` can be the directory of one of several masters. */
export function isMasterSpool(name: string): boolean {
  return OF_MASTER.test(name);
}

/** The directory of a minion's spooled returns. */
export function spoolDirectory({ cachedir }: { readonly cachedir: string }): string {
  return `${cachedir}/returns`;
}

/**
 * The name of the directory of one of several masters.
 * @param master Its `host:port`.
 */
export function masterSpool(master: string): string {
  return hashHex(master, "sha256").slice(0, 16);
}

/**
 * Moves the returns for masters that the minion no longer has to a master that it has: it may be the same one by
 * another name, and the event of a return is of use at any.
 * @param used The directories that are in use.
 * @param to The one of them that gets the others' returns.
 */
export async function adoptReturns(
  root: string,
  { used, to, log }: { readonly used: readonly string[]; readonly to: string; readonly log: Logger },
): Promise<void> {
  const below = (await directoriesIn(root)).filter(isMasterSpool).map((name) => `${root}/${name}`);
  for (const directory of [root, ...below]) {
    if (used.includes(directory)) continue;
    try {
      const count = moveReturns(directory, to);
      if (count > 0) log.warning(`${count} returns for a master that is not configured any more go to ${to}`);
    } catch (error) {
      log.error(`The returns in ${directory} stay there: ${messageOf(error)}`);
    }
  }
}

function moveReturns(from: string, to: string): number {
  if (statIfExists(from) === undefined) return 0;
  const names = [...Deno.readDirSync(from)].map(({ name }) => name).filter((name) => name.endsWith(".p"));
  if (names.length > 0) Deno.mkdirSync(to, { recursive: true, mode: 0o700 });
  const free = names.filter((name) => statIfExists(`${to}/${name}`) === undefined);
  for (const name of free) Deno.renameSync(`${from}/${name}`, `${to}/${name}`);
  return free.length;
}
