/**
 * Worktrees of a repository, which git can list since version 2.7.
 * Source: Salt 3008.3, `salt/modules/git.py` list_worktrees, is_worktree; git-worktree(1).
 * @module
 */

import { parseWorktrees } from "./output.ts";
import { gitOutput, type GitRun, gitVersion } from "./run_git.ts";
import { CommandError } from "#lib/errors.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { joinPath } from "#lib/os/paths.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The oldest version of git with all these features. */
const MIN_VERSION = [2, 7];

/** @throws {CommandError} If git is too old for worktrees. */
export async function requireWorktrees(context: JobContext): Promise<string> {
  const version = await gitVersion(context);
  if (isAtLeast(version, MIN_VERSION)) return version;
  throw new CommandError(
    `Worktrees are only supported in git ${MIN_VERSION.join(".")}.0 and newer (detected git version: ${version})`,
  );
}

/** Whether a version of git is at least that. */
export function isAtLeast(version: string, min: readonly number[]): boolean {
  const numbers = version.split(".").map(Number);
  const at = min.findIndex((part, i) => (numbers[i] ?? 0) !== part);
  return at < 0 || (numbers[at] ?? 0) > min[at];
}

/**
 * The worktrees by path: all, only those without a directory (`stale`), or by default only those with one.
 */
export async function listWorktrees(
  run: GitRun,
  { all, stale }: { readonly all: boolean; readonly stale: boolean },
  context: JobContext,
): Promise<ValueMap> {
  const worktrees: ValueMap = new Map();
  for (
    const { path, head, branch } of parseWorktrees(await gitOutput(["worktree", "list", "--porcelain"], run, context))
  ) {
    const isStale = !isDirectory(path);
    if (!all && isStale !== stale) continue;
    const details = map({ stale: isStale, HEAD: head, detached: branch === undefined, branch: branch ?? null });
    if (branch === undefined) {
      const tags: Value = splitLines(await gitOutput(["tag", "--points-at", head], run, context));
      if (tags.length > 0) details.set("tags", tags);
    }
    worktrees.set(path, details);
  }
  return worktrees;
}

/** Whether `run.cwd` is an additional worktree, not the repository itself. */
export async function isWorktree(run: GitRun, context: JobContext): Promise<boolean> {
  let top: string;
  try {
    top = await gitOutput(["rev-parse", "--show-toplevel"], { ...run, ignore_retcode: true }, context);
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
  const file = joinPath(top, ".git");
  return isFile(file) && /^gitdir:\s+\//.test(Deno.readTextFileSync(file));
}
