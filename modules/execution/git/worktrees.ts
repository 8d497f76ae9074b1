/**
 * The functions of the module `git` for worktrees.
 * Source: the functions of Salt 3008.3 `salt/modules/git.py`.
 * @module
 */

import { ENCODING, OPTIONS, RUN, runOf, WHO } from "./arguments.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { baseName } from "#lib/os/paths.ts";
import { gitOptionWords, revisionWord, revisionWords } from "#lib/host/git/options.ts";
import { gitOutput, runGit, userPath } from "#lib/host/git/run_git.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { isAtLeast, isWorktree, listWorktrees, requireWorktrees } from "#lib/host/git/worktrees.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { describe as document } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { str, truthy } from "#lib/values/value.ts";

export const is_worktree: ModuleFunction<JobContext> = fn({
  doc: document("Return whether a directory is a worktree of a repository elsewhere.", "git.is_worktree /path/to/repo"),
  permissions: "all",
  params: { cwd: p.str(), ...WHO, ...ENCODING },
  run: (bound, context) => isWorktree(runOf(bound), context),
});

export const list_worktrees: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the worktrees by their paths, with head and branch: the existing ones; with stale=True, those whose directory is gone;\n" +
      "with all=True, both. It needs git 2.7.",
    "git.list_worktrees /path/to/repo",
    "git.list_worktrees /path/to/repo all=True",
  ),
  permissions: "all",
  params: { cwd: p.str(), stale: p.bool(false), ...WHO, ...ENCODING },
  varKwargs: "kwargs",
  async run({ stale, ...bound }, context, { kwargs }) {
    await requireWorktrees(context);
    refuseOtherKeywords(kwargs, ["all"]);
    const all = isTrue(kwargs.get("all"));
    if (all && stale) throw new CommandError("'all' and 'stale' cannot both be set to True");
    return await listWorktrees(runOf(bound), { all, stale }, context);
  },
});

export const worktree_add: ModuleFunction<JobContext> = fn({
  doc: document(
    "Add a worktree on a new branch. branch: its name, by default that of the directory; reset_branch=True: it may exist; detach=True:\n" +
      "no branch. ref: the revision to begin with.",
    "git.worktree_add /path/to/repo/main ../hotfix ref=origin/master",
    "git.worktree_add /path/to/repo/main ../hotfix branch=hotfix21 ref=v2.1.9.3",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    worktree_path: p.str(),
    ref: p.str(null),
    reset_branch: p.any(null),
    force: p.any(null),
    detach: p.bool(false),
    ...OPTIONS,
    ...RUN,
  },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    await requireWorktrees(context);
    refuseOtherKeywords(kwargs, ["branch"]);
    const branch = kwargs.get("branch") ?? null;
    if (truthy(branch) && bound.detach) throw new InvocationError("Only one of 'branch' and 'detach' is allowed");
    if (bound.detach && truthy(bound.force)) {
      context.log("warning", "'force' argument to git.worktree_add is ignored when detach=True");
    }
    const branchName = truthy(branch) ? str(branch) : baseName(bound.worktree_path);
    const how = bound.detach ? ["--detach"] : [
      truthy(bound.reset_branch) ? "-B" : "-b",
      revisionWord(branchName, "branch"),
      ...truthy(bound.force) ? ["--force"] : [],
    ];
    const command = [
      ...gitOptionWords(bound.git_opts),
      "worktree",
      "add",
      ...how,
      ...gitOptionWords(bound.opts),
      revisionWord(bound.worktree_path, "path"),
      ...revisionWords(bound.ref),
    ];
    return await gitOutput(command, runOf(bound, { joined: true }), context);
  },
});

export const worktree_prune: ModuleFunction<JobContext> = fn({
  doc: document(
    "Forget worktrees whose directory is gone, and return what git says; with dry_run=True, only what would be done.",
    "git.worktree_prune /path/to/repo",
    "git.worktree_prune /path/to/repo dry_run=True",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    dry_run: p.bool(false),
    verbose: p.bool(true),
    expire: p.str(null),
    ...OPTIONS,
    ...RUN,
  },
  async run(bound, context) {
    const version = await requireWorktrees(context);
    const command = [
      ...gitOptionWords(bound.git_opts),
      "worktree",
      "prune",
      ...bound.dry_run ? ["--dry-run"] : [],
      ...bound.verbose ? ["--verbose"] : [],
      ...bound.expire ? ["--expire", bound.expire] : [],
      ...gitOptionWords(bound.opts),
    ];
    const { stdout, stderr } = await runGit(command, runOf(bound), context);
    return isAtLeast(version, [2, 35, 1]) ? stderr : stdout;
  },
});

export const worktree_rm: ModuleFunction<JobContext> = fn({
  doc: document("Remove the directory of a worktree. Return True.", "git.worktree_rm /path/to/worktree"),
  permissions: "all",
  params: { cwd: p.str(), user: p.str(null), ...ENCODING },
  async run({ cwd, user, output_encoding }, context) {
    await requireWorktrees(context);
    const path = userPath(cwd, user);
    if (!lexists(path)) throw new CommandError(`${path} does not exist`);
    if (!await isWorktree({ cwd: path, output_encoding }, context)) {
      throw new CommandError(`${path} is not a git worktree`);
    }
    removeAny(path);
    return true;
  },
});
