/**
 * Owners of what `archive.extracted` has extracted, or finds there.
 * Source: Salt 3008.3 `salt/states/archive.py` extracted.
 * @module
 */

import { type ArchiveContents, bullets, findMemberPlace } from "./contents.ts";
import { isHostError } from "#modules/states/file/common.ts";
import { Refused } from "#modules/states/_refused.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { map, toNumber, truthy, type Value } from "#lib/values/value.ts";

/** The owners that a state asks for, with their numbers; -1: none is asked for. */
export interface ArchiveOwners {
  readonly user: Value;
  readonly group: Value;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Looks the names up.
 * @throws {Refused} If there is no such user or group.
 */
export async function findOwners(user: Value, group: Value, context: StateContext): Promise<ArchiveOwners> {
  const find = async (kind: "User" | "Group", name: Value): Promise<number> => {
    if (!truthy(name)) return -1;
    const number = await context.call(kind === "User" ? "file.user_to_uid" : "file.group_to_gid", [name]);
    if (number === "") throw new Refused(`${kind} ${name} does not exist`);
    return toNumber(number) ?? -1;
  };
  return { user, group, uid: await find("User", user), gid: await find("Group", group) };
}

/** The result of setting the owners. */
export interface Enforced {
  readonly changed: boolean;
  readonly missing: readonly string[];
  readonly failed: readonly string[];
}

/** Sets the owners of what is at the top of the archive and below it, or of the directory `only`. */
export async function enforceOwners(
  { user, group, uid, gid }: ArchiveOwners,
  { directory, contents, only, context }: {
    readonly directory: string;
    readonly contents: ArchiveContents;
    readonly only: string | null;
    readonly context: StateContext;
  },
): Promise<Enforced> {
  const missing: string[] = [];
  const failed: string[] = [];
  let changed = false;
  const whole = only !== null && isDirectory(only);
  const directories = only === null
    ? contents.top_level_dirs.map((name) => findMemberPlace(name, directory))
    : whole
    ? [only]
    : [];
  const others = only === null
    ? [...contents.top_level_files, ...contents.top_level_links].map((name) => ({
      name,
      path: findMemberPlace(name, directory),
    }))
    : whole
    ? []
    : [{ name: only, path: only }];
  const recurse = [...truthy(user) ? ["user"] : [], ...truthy(group) ? ["group"] : []];
  for (const path of directories) {
    if (!isDirectory(path)) {
      if (!context.test) missing.push(path);
      continue;
    }
    const result = await context.state("file.directory", map({ name: path, user, group, recurse }));
    if (truthy(result.get("changes"))) changed = true;
    if (!truthy(result.get("result"))) failed.push(path);
  }
  for (const { name, path } of others) {
    let info: Deno.FileInfo;
    try {
      info = Deno.lstatSync(path);
    } catch (error) {
      if (!isHostError(error)) throw error;
      if (context.test) continue;
      if (error instanceof Deno.errors.NotFound) missing.push(path);
      failed.push(path);
      continue;
    }
    if ((uid === -1 || info.uid === uid) && (gid === -1 || info.gid === gid)) continue;
    try {
      if (!context.test) await context.call("file.lchown", [path, uid === -1 ? "" : uid, gid === -1 ? "" : gid]);
      changed = true;
    } catch (error) {
      if (!isHostError(error)) throw error;
      failed.push(name);
    }
  }
  return { changed, missing, failed };
}

/** What a comment says of owners that could not be set. */
export function ownerTroubles({ missing, failed }: Enforced): string {
  const part = (paths: readonly string[], words: string) =>
    paths.length === 0 ? "" : `\n\nWhile trying to enforce user/group ownership, ${words}:\n${bullets(paths)}`;
  return part(missing, "the following paths were missing") +
    part(failed, "Salt was unable to change ownership on the following paths");
}
