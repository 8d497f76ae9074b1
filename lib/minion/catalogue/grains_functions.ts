/**
 * Runs the functions of one file of custom grains, in the process that was started for it. The minion merges the
 * results (custom_grains.ts).
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { permissionKey } from "#lib/plugins/permissions.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { refusedAccess } from "#lib/os/deno_texts.ts";

/** A run of a file. */
export interface GrainsRequest {
  readonly path: string;
  /** A `permissionKey`: only functions that declare these permissions are run. */
  readonly permissions: string;
  /** The `permissionKey` of each function in the file's text; others declare "none". */
  readonly declared: Readonly<Record<string, string>>;
}

/**
 * Runs the functions.
 * @returns Maps: `grains` with each result, `problems` with texts.
 */
export async function runGrains({ path, permissions, declared }: GrainsRequest): Promise<Value> {
  const slash = path.lastIndexOf("/");
  const module = path.slice(slash + 1).replace(/\.[^.]*$/, "");
  const problems: string[] = [];
  const grains: Value[] = [];
  const family = loadFamily<null>({}, {
    directories: [path.slice(0, slash)],
    only: [module],
    warn: (problem) => problems.push(problem),
  });
  for (const { name, fun } of await family.all()) {
    const actual = permissionKey(fun.permissions ?? "none");
    const own = name.slice(module.length + 1);
    const permission = Object.hasOwn(declared, own) ? declared[own] : "none";
    if (permission !== permissions) continue;
    if (actual !== permission) {
      problems.push(
        `The grains of '${name}' are missing: it has the permissions ${actual} when it runs, and ${permission} in the ` +
          "text of its file, which is what counts",
      );
      continue;
    }
    try {
      grains.push([name, toValue(await fun.run({}, null, { args: [], kwargs: new Map() }))]);
    } catch (error) {
      problems.push(`The grains of '${name}' are missing: ${failureReason(error)}`);
    }
  }
  return map({ grains, problems });
}

function failureReason(error: unknown): string {
  const wanted = error instanceof Deno.errors.NotCapable ? refusedAccess(error) : undefined;
  if (wanted === undefined) return messageOf(error);
  return `Requires ${wanted}; the file declares what its functions need in "permissions"`;
}
