/**
 * Calls of the module `git`, one after the other, on repositories in a directory `{here}`, and a function that makes
 * this directory, so that it is the same for each implementation.
 * @module
 */

/** A function with its arguments and keywords. */
export type Call = readonly [fun: string, args?: readonly unknown[], kwargs?: Readonly<Record<string, unknown>>];

/** With these dates and names commits have the same hashes. */
const DATES = { GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z", GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z" };

const SETUP = `
set -e
git init -q -b main origin && cd origin
git config user.name Test && git config user.email test@example.com && git config --add foo.bar 1 && git config --add foo.bar two
echo one > one && git add one && git commit -qm first
git tag v1 && git branch side
echo two > two && git add two && git commit -qm second
git checkout -q side && echo three > three && git add three && git commit -qm third && git checkout -q main
cd .. && git clone -q origin clone && cd clone
git config user.name Test && git config user.email test@example.com
git remote add upstream https://me:secret@example.com/repo.git
cd ../origin && echo more >> one && git commit -qam fourth && git tag v2 && git branch other
`;

/** Makes the directory with its repositories. */
export async function makeRepositories(here: string): Promise<void> {
  const { success, stderr } = await new Deno.Command("sh", { args: ["-c", SETUP], cwd: here, env: DATES }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

const O = "{here}/origin";
const C = "{here}/clone";

/**
 * The calls. Each uses the repositories as the calls before left them. Hashes of new commits depend on the time, and
 * are not shown.
 */
export const GIT_CALLS: readonly Call[] = [
  ["git.version"],
  ["git.version", [], { versioninfo: true }],
  ["git.current_branch", [C]],
  ["git.list_branches", [O]],
  ["git.list_branches", [C], { remote: true }],
  ["git.list_tags", [O]],
  ["git.revision", [O]],
  ["git.revision", [O, "v1"], { short: true }],
  ["git.revision", [O, "nosuch"]],
  ["git.rev_parse", [O, "HEAD"]],
  ["git.rev_parse", [O], { opts: "--is-bare-repository" }],
  ["git.describe", [O]],
  ["git.describe", [O, "side"]],
  ["git.remotes", [C]],
  ["git.remotes", [C], { redact_auth: false }],
  ["git.remote_get", [C]],
  ["git.remote_get", [C, "nosuch"]],
  ["git.ls_remote", [C]],
  ["git.ls_remote", [], { remote: O, opts: "--tags" }],
  ["git.ls_remote", [C, "origin", "main"]],
  ["git.remote_refs", [O]],
  ["git.remote_refs", [O], { heads: true }],
  ["git.remote_refs", [O], { tags: true, filter: "v1" }],
  ["git.merge_base", [O, "main,side"]],
  ["git.merge_base", [O, ["main", "side"]], { all: true }],
  ["git.merge_base", [O, "v1,main"], { is_ancestor: true }],
  ["git.merge_base", [O, "main,v1"], { is_ancestor: true }],
  ["git.merge_base", [O, "main,v1,side"], { independent: true, all: false }],
  ["git.merge_base", [O, "main,side"], { octopus: true, independent: true }],
  ["git.merge_tree", [O, "main", "side"]],
  ["git.config_get", ["user.name"], { cwd: O }],
  ["git.config_get", ["foo.bar"], { cwd: O, all: true }],
  ["git.config_get", ["nosuch.key"], { cwd: O }],
  ["git.config_get", ["user.name"]],
  ["git.config_get_regexp", ["foo|user"], { cwd: O }],
  ["git.config_get_regex", ["foo", "two"], { cwd: O }],
  ["git.config_set", ["a.b", "c"], { cwd: O }],
  ["git.config_set", ["a.b", "d"], { cwd: O, add: true }],
  ["git.config_set", ["a.c"], { cwd: O, multivar: "x,y,z" }],
  ["git.config_set", ["a.c", "v"], { cwd: O, multivar: ["x"] }],
  ["git.config_unset", ["a.c"], { cwd: O }],
  ["git.config_unset", ["a.c", "y"], { cwd: O }],
  ["git.config_unset", ["a.c"], { cwd: O, all: true }],
  ["git.config_unset", ["a.c"], { cwd: O }],
  ["git.config_unset", ["nokey"], { cwd: O }],
  ["git.diff", [O, "v1", "main"]],
  ["git.diff", [O, "v1", "main"], { paths: "one" }],
  ["git.diff", [O], { no_index: true, cached: true }],
  ["git.fetch", [C]],
  ["git.fetch", [C]],
  ["git.fetch", [C, "nosuch"]],
  ["git.merge", [C, "origin/main"]],
  ["git.pull", [C]],
  ["git.branch", [C, "mine", "--track origin/side"]],
  ["git.checkout", [C, "mine"]],
  ["git.checkout", [C]],
  ["git.checkout", [C, "nosuch"]],
  ["git.current_branch", [C]],
  ["git.status", [C]],
  ["git.rm", [C, "one"]],
  ["git.status", [C]],
  ["git.reset", [C], { opts: "--hard" }],
  ["git.add", [C, "one"], { opts: "--force -v" }],
  ["git.add", [C, "nosuch"]],
  ["git.discard_local_changes", [C]],
  ["git.symbolic_ref", [C, "HEAD"]],
  ["git.tag", [C, "t1"]],
  ["git.tag", [C, "t2", "main"], { message: "a tag" }],
  ["git.tag", [C, "t3"], { opts: "--message=x" }],
  ["git.tag", [C, "t1"], { opts: "-d" }],
  ["git.list_tags", [C]],
  ["git.push", [C, "origin", "mine:pushed"]],
  ["git.list_branches", [O]],
  ["git.rebase", [C, "main"], { opts: "-i" }],
  ["git.stash", [C, "list"]],
  ["git.submodule", [C, "status"]],
  ["git.submodule", [C, "update"], { init: true }],
  ["git.archive", [O, "{here}/out.tar"]],
  ["git.archive", [O, "{here}/out.zip"], { format: "zip", prefix: "x/", rev: "v1" }],
  ["git.archive", [O, "{here}/out.zip"], { form: "zip" }],
  ["git.worktree_add", [C, "{here}/wt"], { branch: "tree", ref: "main" }],
  ["git.worktree_add", [C, "{here}/wt2"], { detach: true, ref: "v1" }],
  ["git.is_worktree", ["{here}/wt"]],
  ["git.is_worktree", [C]],
  ["git.is_worktree", ["{here}"]],
  ["git.list_worktrees", [C]],
  ["git.worktree_rm", ["{here}/wt"]],
  ["git.worktree_rm", [C]],
  ["git.list_worktrees", [C], { stale: true }],
  ["git.list_worktrees", [C], { stale: true, all: true }],
  ["git.worktree_prune", [C], { dry_run: true }],
  ["git.worktree_prune", [C]],
  ["git.clone", ["{here}/second", O], { opts: "--branch side" }],
  ["git.clone", ["{here}/parent", O, "third"]],
  ["git.clone", ["{here}/fourth"]],
  ["git.clone", ["{here}/fourth", "http://example.com/x"], { https_user: "me" }],
  ["git.clone", ["{here}/fourth", "{here}/nosuch"]],
  ["git.clone", ["{here}/fourth", O], { identity: "/nonexistent/key" }],
  ["git.current_branch", ["{here}/second"]],
  ["git.remote_set", ["{here}/second", "https://example.com/new.git"], { https_user: "me", https_pass: "p/w" }],
  ["git.remote_set", ["{here}/second", "https://example.com/a.git"], {
    remote: "b",
    push_url: "git@example.com:a.git",
  }],
  ["git.remotes", ["{here}/second"], { redact_auth: false }],
  ["git.init", ["{here}/bare"], { bare: true, shared: 640 }],
  ["git.init", ["{here}/plain"], { opts: "-b main" }],
  ["git.commit", ["{here}/plain", "nothing"]],
  ["git.revision", ["{here}"]],
];
