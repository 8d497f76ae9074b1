/**
 * The files of a commit as a directory, taken out of the repository once. A directory has the name of its commit and
 * never changes, so that all processes may read it while a fetch is under way; a directory that was not used for a day
 * is removed.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { StoreError } from "#lib/errors.ts";
import { isGone } from "#lib/os/deno_texts.ts";
import { runGitProgram } from "./git_program.ts";

/** Age at which an unused directory is removed, in milliseconds. */
const MAX_AGE_MS = 86_400_000;

/** How exactly the last use is noted, in milliseconds. */
const USED_MS = 3_600_000;

/** Where a repository is, and where the directories of its commits go to. */
export interface CommitPlace {
  readonly repository: string;
  /** The directory that they are in. */
  readonly directory: string;
}

/**
 * The directory with the files of a commit.
 * @throws {StoreError} If git does not give them.
 */
export async function commitFiles(commit: string, { repository, directory }: CommitPlace): Promise<string> {
  const path = `${directory}/${commit}`;
  if (await isUsedAgain(path)) return path;
  const temporary = `${directory}/.${commit.slice(0, 12)}.${crypto.randomUUID().slice(0, 8)}`;
  await Deno.mkdir(`${temporary}/files`, { recursive: true, mode: 0o700 });
  try {
    const run = { directory: repository, indexFile: `${temporary}/index` };
    for (
      const args of [["read-tree", commit], [`--work-tree=${temporary}/files`, "checkout-index", "--all", "--force"]]
    ) {
      const { ok, stderr } = await runGitProgram(args, run);
      if (!ok) throw new StoreError(`git does not give the files of ${commit}: ${stderr}`, repository);
    }
    await placeDirectory(`${temporary}/files`, path);
    return path;
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

/** A directory in which `target` appears at `mountPoint`. */
export async function mountedDirectory(target: string, mountPoint: string, directory: string): Promise<string> {
  const name = new TextEncoder().encode(`${target}\0${mountPoint}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", name)).toHex();
  const path = `${directory}/${digest}`;
  if (await isUsedAgain(path)) return path;
  const temporary = `${directory}/.${digest.slice(0, 12)}.${crypto.randomUUID().slice(0, 8)}`;
  const link = `${temporary}/${mountPoint}`;
  await Deno.mkdir(dirName(link), { recursive: true, mode: 0o700 });
  await Deno.symlink(target, link);
  await placeDirectory(temporary, path);
  return path;
}

/**
 * Removes the directories that were not used for a day.
 * @param used The commits that branches and tags mean now.
 */
export async function removeOldCommits({ directory }: CommitPlace, used: ReadonlySet<string>): Promise<void> {
  let names: string[];
  try {
    names = (await Array.fromAsync(Deno.readDir(directory))).map(({ name }) => name);
  } catch (error) {
    if (isGone(error)) return;
    throw error;
  }
  for (const name of names.filter((name) => !used.has(name))) {
    const path = `${directory}/${name}`;
    const info = await Deno.lstat(path).catch(() => undefined);
    if (info !== undefined && Date.now() - Number(info.mtime) > MAX_AGE_MS) {
      await Deno.remove(path, { recursive: true });
    }
  }
}

/** Whether a directory is there. Its age is that of its last use, to the hour. */
async function isUsedAgain(path: string): Promise<boolean> {
  if (!lexistsOrThrow(path)) return false;
  const { mtime } = await Deno.lstat(path);
  if (Date.now() - Number(mtime) > USED_MS) await Deno.utime(path, new Date(), new Date());
  return true;
}

/** Another process may have made the same directory meanwhile: then that one is used. */
async function placeDirectory(made: string, path: string): Promise<void> {
  try {
    await Deno.rename(made, path);
  } catch (error) {
    if (!lexistsOrThrow(path)) throw error;
    await Deno.remove(made, { recursive: true });
  }
}
