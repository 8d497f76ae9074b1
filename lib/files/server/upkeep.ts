/**
 * Maintenance of the backends by operators and the master: updates, cached data of files, and locks. Source: the
 * functions and results of Salt 3008.3 `salt/fileserver/__init__.py` Fileserver.
 * @module
 */

import { environmentOf } from "#lib/files/backends/safe_path.ts";
import { namesIn } from "#lib/os/directory_names.ts";
import { describeError, messageOf } from "#lib/errors.ts";
import type { LockResult, UpdateOptions } from "#lib/plugins/file_backend.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import type { Backends, FileServer } from "./file_server.ts";
import { compareStrings, type ValueMap } from "#lib/values/value.ts";

/** The functions that an update calls. */
export interface UpdateHost {
  log(level: "error" | "info", message: string): void;
  /** Takes the event of an update: `salt/fileserver/<backend>/update`. */
  fire(tag: string, data: ValueMap): Promise<void>;
}

/** What to update, and whether the list of changes is needed. */
export interface UpdateChoice extends UpdateOptions {
  readonly backend?: Backends;
  /** The remotes of the backend; all if there are none. */
  readonly targets?: readonly string[];
}

/** Updates backends. One that fails is named in the log, and does not stop the others. */
export async function updateBackends(server: FileServer, choice: UpdateChoice, host: UpdateHost): Promise<void> {
  const backends = await server.backends(choice.backend);
  await Promise.all(backends.map(async ({ name, backend }) => {
    try {
      const event = await backend.update(choice.targets ?? [], choice);
      if (event !== undefined && choice.changes) await host.fire(`salt/fileserver/${name}/update`, event);
    } catch (error) {
      host.log("error", `The file server backend ${name} cannot be updated: ${describeError(error)}`);
    }
  }));
}

/** Removes the backends' cached data of files that no longer exist. */
export async function reapBackends(server: FileServer, host: Pick<UpdateHost, "log">): Promise<void> {
  for (const { name, backend } of await server.backends()) {
    try {
      await backend.reap?.();
    } catch (error) {
      host.log(
        "error",
        `The cached data of the file server backend ${name} cannot be cleaned: ${describeError(error)}`,
      );
    }
  }
}

/** Removes all that backends keep, of those that keep more than lists and digests. */
export async function clearCaches(server: FileServer, chosen: Backends): Promise<LockResult> {
  const done: string[] = [], errors: string[] = [];
  for (const { name, backend } of await server.backends(chosen)) {
    if (backend.clearCache === undefined) continue;
    const failed = await backend.clearCache();
    errors.push(...failed);
    if (failed.length === 0) done.push(`The ${name} fileserver cache was successfully cleared`);
  }
  return { done, errors };
}

/**
 * Locks updates, or allows them again.
 * @param pattern A glob for the remotes; all if there is none.
 */
export async function changeLocks(
  server: FileServer,
  change: "lock" | "clearLock",
  { backend: chosen, pattern }: { readonly backend: Backends; readonly pattern?: string },
): Promise<LockResult> {
  const results: LockResult[] = [];
  for (const { backend } of await server.backends(chosen)) {
    const result = await backend[change]?.(pattern);
    if (result !== undefined) results.push(result);
  }
  return { done: results.flatMap(({ done }) => done), errors: results.flatMap(({ errors }) => errors) };
}

/**
 * Removes the kept lists of files, so that the next request reads the disk.
 * @param saltenvs Of these environments; of all if there are none.
 * @returns The environments of each backend that had some, sorted.
 */
export async function clearFileLists(
  server: FileServer,
  { cachedir, saltenvs, backend }: {
    readonly cachedir: string;
    readonly saltenvs?: readonly string[];
    readonly backend: Backends;
  },
): Promise<Map<string, string[]>> {
  const cleared = new Map<string, string[]>();
  for (const { name } of await server.backends(backend)) {
    const directory = `${cachedir}/file_lists/${name}`;
    for (const file of await namesIn(directory)) {
      const saltenv = file.endsWith(".p") ? environmentOf(file.slice(0, -2)) : undefined;
      if (saltenv === undefined || (saltenvs !== undefined && !saltenvs.includes(saltenv))) continue;
      await removeFile(`${directory}/${file}`);
      cleared.set(name, [...cleared.get(name) ?? [], saltenv].sort(compareStrings));
    }
  }
  return cleared;
}

async function removeFile(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!isGone(error)) throw new Error(`Cannot remove ${path}: ${messageOf(error)}`, { cause: error });
  }
}
