/**
 * Execution module `git`: git's commands, and their output. Its other functions are in the files `_git_*.ts`. Source:
 * the functions of Salt 3008.3 `salt/modules/git.py`.
 * @module
 */

import {
  type Common,
  ENCODING,
  gitOptions,
  IDENTITY,
  OPTIONS,
  printing,
  RETCODE,
  RUN,
  runOf,
  WHO,
  words,
} from "./arguments.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { baseName } from "#lib/os/paths.ts";
import { gitOptionWords, listedWords, revisionWord, revisionWords } from "#lib/host/git/options.ts";
import { parseStatus } from "#lib/host/git/output.ts";
import { gitOutput, type GitRun, gitVersion, runGit, userPath } from "#lib/host/git/run_git.ts";
import { describe as document } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { refuseOtherKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { isInt, str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["git"], otherwise: "The git execution module cannot be loaded: git unavailable." }],
};

export const add: ModuleFunction<JobContext> = printing(
  document(
    "Put a file, or those of a glob, into the next commit, and return what git says. opts: options of git add;\n" +
      "git_opts: options of git itself, as for all functions. user: the user to run git as.",
    "git.add /path/to/repo foo/bar.py",
    "git.add /path/to/repo foo/bar.py opts='--dry-run'",
  ),
  { cwd: p.str(), filename: p.str(), ...OPTIONS, ...RUN },
  (bound) => {
    const options = gitOptionWords(bound.opts).filter((one) => one !== "-v" && one !== "--verbose");
    return [...gitOptionWords(bound.git_opts), "add", "--verbose", ...options, "--", str(bound.filename)];
  },
);

export const archive: ModuleFunction<JobContext> = fn({
  doc: document(
    "Write the files of a revision into an archive. prefix: the directory in it, by default the name of cwd. format: tar, zip,\n" +
      "tar.gz; by default the ending of output. Return True.",
    "git.archive /path/to/repo /path/to/archive.tar",
  ),
  permissions: "all",
  params: { cwd: p.str(), output: p.str(), rev: p.str("HEAD"), prefix: p.str(null), git_opts: p.any(""), ...RUN },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    refuseOtherKeywords(kwargs, ["format"]);
    const run = runOf(bound);
    const format = kwargs.get("format") ?? null;
    const prefix = bound.prefix === "" ? undefined : bound.prefix ?? `${baseName(run.cwd ?? "")}/`;
    const command = [
      ...gitOptionWords(bound.git_opts),
      "archive",
      ...prefix === undefined ? [] : ["--prefix", prefix],
      ...truthy(format) ? ["--format", str(format)] : [],
      "--output",
      userPath(bound.output, bound.user),
      revisionWord(bound.rev),
    ];
    await runGit(command, run, context);
    return true;
  },
});

export const branch: ModuleFunction<JobContext> = fn({
  doc: document(
    "Create a branch; with opts -d delete it, with -m rename it. Return True.",
    "git.branch /path/to/repo mybranch",
    "git.branch /path/to/repo newbranch opts='-m oldbranch'",
  ),
  permissions: "all",
  params: { cwd: p.str(), name: p.str(null), ...OPTIONS, ...RUN },
  async run(bound, context) {
    const name = bound.name === null ? [] : [revisionWord(bound.name, "branch")];
    await runGit([...words(bound, "branch"), ...name], runOf(bound), context);
    return true;
  },
});

export const checkout: ModuleFunction<JobContext> = printing(
  document(
    "Check a revision out, with force=True also over changed files. Return what git says.",
    "git.checkout /path/to/repo somebranch user=jeff",
    "git.checkout /path/to/repo opts='testbranch -- conf/file1 file2'",
    "git.checkout /path/to/repo rev=origin/mybranch opts='-b newbranch'",
  ),
  { cwd: p.str(), rev: p.str(null), force: p.bool(false), ...OPTIONS, ...RUN },
  (bound) => {
    const options = gitOptionWords(bound.opts);
    if (bound.rev === null && !options.includes("-b") && !options.includes("-B")) {
      throw new InvocationError("'rev' argument is required unless -b or -B in opts");
    }
    return [
      ...gitOptionWords(bound.git_opts),
      "checkout",
      ...bound.force === true ? ["--force"] : [],
      ...options,
      ...bound.rev === null ? [] : [revisionWord(str(bound.rev))],
    ];
  },
  { joined: true },
);

export const commit: ModuleFunction<JobContext> = printing(
  document(
    "Commit what was added, with filename that file alone, and return what git says.",
    "git.commit /path/to/repo 'The commit message'",
    "git.commit /path/to/repo 'The commit message' filename=foo/bar.py",
  ),
  { cwd: p.str(), message: p.str(), ...OPTIONS, ...WHO, filename: p.str(null), ...RETCODE, ...ENCODING },
  (bound) => [
    ...gitOptionWords(bound.git_opts),
    "commit",
    "-m",
    str(bound.message),
    ...gitOptionWords(bound.opts),
    ...truthy(bound.filename) ? ["--", str(bound.filename)] : [],
  ],
);

export const current_branch: ModuleFunction<JobContext> = printing(
  document("Return the name of the branch that is checked out; HEAD if none is.", "git.current_branch /path/to/repo"),
  { cwd: p.str(), ...RUN },
  () => ["rev-parse", "--abbrev-ref", "HEAD"],
);

export const describe: ModuleFunction<JobContext> = printing(
  document("Return git's description of a revision, by the tag before it.", "git.describe /path/to/repo develop"),
  { cwd: p.str(), rev: p.str("HEAD"), ...RUN },
  (bound) => ["describe", "--always", revisionWord(str(bound.rev))],
);

export const diff: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the differences between two revisions, between one and the files, or between the files and the index; with cached=True, between the\n" +
      "index and a revision; with no_index=True, between two paths outside of a repository. paths: only these.",
    "git.diff /path/to/repo",
    "git.diff /path/to/repo HEAD~1 HEAD",
    "git.diff /path/to/repo no_index=True paths='[/path/one, /path/two]'",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    item1: p.str(null),
    item2: p.str(null),
    ...OPTIONS,
    ...WHO,
    no_index: p.bool(false),
    cached: p.bool(false),
    paths: p.any(null),
    ...ENCODING,
  },
  run({ item1, item2, no_index, cached, paths, ...bound }, context) {
    if (no_index && cached) {
      throw new CommandError("The 'no_index' and 'cached' options cannot be used together");
    }
    const items = revisionWords(item1, item2);
    const used = no_index ? [] : cached ? revisionWords(item1) : items;
    for (const item of items.filter((one) => !used.includes(one))) {
      context.log("warning", `Revision '${item}' is ignored in git diff`);
    }
    const command = [
      ...words(bound, "diff"),
      ...no_index ? ["--no-index"] : cached ? ["--cached"] : [],
      ...used,
      ...truthy(paths) ? ["--", ...listedWords(paths)] : [],
    ];
    // Salt starts git in the current directory, not in the home directory.
    const run = runOf(bound, { cwd: bound.cwd, joined: true, ignore_retcode: no_index, soft: no_index });
    return gitOutput(command, run, context);
  },
});

export const discard_local_changes: ModuleFunction<JobContext> = printing(
  document(
    "Undo the changes of a file that was not added, by default of all.",
    "git.discard_local_changes /path/to/repo",
    "git.discard_local_changes /path/to/repo path=foo",
  ),
  { cwd: p.str(), path: p.str("."), ...RUN },
  (bound) => ["checkout", "--", str(bound.path)],
  { joined: true },
);

export const init: ModuleFunction<JobContext> = fn({
  doc: document(
    "Make a repository. template, separate_git_dir, shared: options of git init of these names.",
    "git.init /path/to/repo",
    "git.init /path/to/bare/repo bare=True",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    bare: p.bool(false),
    template: p.str(null),
    separate_git_dir: p.str(null),
    shared: p.any(null),
    ...OPTIONS,
    ...RUN,
  },
  run({ template, separate_git_dir, shared, ...bound }, context) {
    const mode = isInt(shared) ? `0${str(shared)}` : typeof shared === "string" ? shared : str(shared).toLowerCase();
    const command = [
      ...gitOptionWords(bound.git_opts),
      "init",
      ...bound.bare ? ["--bare"] : [],
      ...template === null ? [] : [`--template=${template}`],
      ...separate_git_dir === null ? [] : [`--separate-git-dir=${separate_git_dir}`],
      ...shared === null ? [] : [`--shared=${mode}`],
      ...gitOptionWords(bound.opts),
      userPath(bound.cwd, bound.user),
    ];
    return gitOutput(command, runOf(bound, { cwd: undefined }), context);
  },
});

export const list_branches: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the branches; with remote=True, those of the remotes.",
    "git.list_branches /path/to/repo",
    "git.list_branches /path/to/repo remote=True",
  ),
  permissions: "all",
  params: { cwd: p.str(), remote: p.bool(false), ...RUN },
  run: async (bound, context) => {
    const place = bound.remote ? "refs/remotes/" : "refs/heads/";
    return splitLines(
      await gitOutput(["for-each-ref", "--format", "%(refname:short)", place], runOf(bound), context),
    );
  },
});

export const list_tags: ModuleFunction<JobContext> = fn({
  doc: document("Return the tags.", "git.list_tags /path/to/repo"),
  permissions: "all",
  params: { cwd: p.str(), ...RUN },
  run: async (bound, context) =>
    splitLines(
      await gitOutput(["for-each-ref", "--format", "%(refname:short)", "refs/tags/"], runOf(bound), context),
    ),
});

export const merge: ModuleFunction<JobContext> = printing(
  document(
    "Merge a revision, by default the branch that is followed, and return what git says.",
    "git.merge /path/to/repo",
    "git.merge /path/to/repo rev=upstream/foo",
  ),
  { cwd: p.str(), rev: p.str(null), ...OPTIONS, ...WHO, ...IDENTITY, ...RETCODE, ...ENCODING },
  (bound, kwargs) => {
    refuseOtherKeywords(kwargs);
    return [...words(gitOptions(bound), "merge"), ...revisionWords(bound.rev)];
  },
  { varKwargs: "kwargs" },
);

export const merge_base: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the best common ancestor of revisions; with all=True, a list of all. octopus: of all revisions together;\n" +
      "independent: the revisions that are not reachable from others; fork_point: the commit where a branch forked; is_ancestor: whether the first of two\n" +
      "is an ancestor of the second. refs: a list, or a text with commas.",
    "git.merge_base /path/to/repo HEAD upstream/mybranch",
    "git.merge_base /path/to/repo refs='8f2e542,4ad8cab,cdc9886,2001d8a' independent=True",
    "git.merge_base /path/to/repo fork_point=upstream/master refs=HEAD",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    refs: p.any(null),
    octopus: p.bool(false),
    is_ancestor: p.bool(false),
    independent: p.bool(false),
    fork_point: p.str(null),
    ...OPTIONS,
    ...RUN,
  },
  varKwargs: "kwargs",
  run(bound, context, { kwargs }) {
    refuseOtherKeywords(kwargs, ["all"]);
    return mergeBase(bound, isTrue(kwargs.get("all")), context);
  },
});

interface MergeBase extends Common {
  readonly refs: Value;
  readonly octopus: boolean;
  readonly is_ancestor: boolean;
  readonly independent: boolean;
  readonly fork_point: string | null;
  readonly opts: Value;
  readonly git_opts: Value;
}

async function mergeBase(bound: MergeBase, all: boolean, context: JobContext): Promise<Value> {
  const { octopus, is_ancestor, independent, fork_point } = bound;
  if (all && (independent || is_ancestor || fork_point)) {
    throw new InvocationError(
      "The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'",
    );
  }
  let refs = bound.refs === null ? [] : listedWords(bound.refs).map((one) => one.trim());
  if ([octopus, independent, is_ancestor, Boolean(fork_point)].filter(Boolean).length > 1) {
    throw new InvocationError(
      "Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted",
    );
  } else if (is_ancestor && refs.length !== 2) {
    throw new InvocationError("Two refs/commits are required if 'is_ancestor' is True");
  } else if (fork_point && refs.length > 1) {
    throw new InvocationError("At most one ref/commit can be passed if 'fork_point' is specified");
  } else if (fork_point && refs.length === 0) refs = ["HEAD"];
  const kind = octopus
    ? ["--octopus"]
    : is_ancestor
    ? ["--is-ancestor"]
    : independent
    ? ["--independent"]
    : fork_point
    ? ["--fork-point", revisionWord(fork_point)]
    : [];
  const command = [...words(bound, "merge-base"), ...all ? ["--all"] : [], ...kind, ...revisionWords(...refs)];
  const { retcode, stdout } = await runGit(command, runOf(bound, { soft: is_ancestor }), context);
  if (is_ancestor) return retcode === 0;
  const bases = splitLines(stdout);
  return all ? bases : bases[0] ?? "";
}

export const merge_tree: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return what a merge of two revisions would change, from their common ancestor or base on.",
    "git.merge_tree /path/to/repo HEAD upstream/dev",
    "git.merge_tree /path/to/repo HEAD upstream/dev base=aaf3c3d",
  ),
  permissions: "all",
  params: { cwd: p.str(), ref1: p.str(), ref2: p.str(), base: p.str(null), ...RUN },
  async run({ ref1, ref2, base, ...bound }, context) {
    const run = runOf(bound);
    const ancestor = base ?? await commonAncestor([ref1, ref2], run, context);
    return await gitOutput(["merge-tree", ...[ancestor, ref1, ref2].map((one) => revisionWord(one))], run, context);
  },
});

async function commonAncestor(refs: readonly string[], run: GitRun, context: JobContext): Promise<string> {
  try {
    const bases = await gitOutput(
      ["merge-base", ...revisionWords(...refs)],
      { ...run, ignore_retcode: false },
      context,
    );
    return splitLines(bases)[0] ?? "";
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`Unable to determine merge base for ${refs.join(" and ")}`);
  }
}

export const rebase: ModuleFunction<JobContext> = printing(
  document(
    "Rebase the current branch onto another one, and return what git says.",
    "git.rebase /path/to/repo master",
    "git.rebase /path/to/repo 'origin master' opts='--onto newbranch'",
  ),
  { cwd: p.str(), rev: p.str("master"), ...OPTIONS, ...RUN },
  (bound) => {
    const options = gitOptionWords(bound.opts);
    if (options.includes("-i") || options.includes("--interactive")) {
      throw new InvocationError("Interactive rebases are not supported");
    }
    return [...words(gitOptions(bound), "rebase"), ...shlexSplit(str(bound.rev)).map((one) => revisionWord(one))];
  },
);

export const reset: ModuleFunction<JobContext> = printing(
  document(
    "Reset to a revision that opts names, and return what git says.",
    "git.reset /path/to/repo opts='--hard origin/master'",
  ),
  { cwd: p.str(), ...OPTIONS, ...WHO, ...IDENTITY, ...RETCODE, ...ENCODING },
  (bound) => words(gitOptions(bound), "reset"),
);

export const rev_parse: ModuleFunction<JobContext> = printing(
  document(
    "Return what git rev-parse prints: by default the hash of a revision.",
    "git.rev_parse /path/to/repo HEAD",
    "git.rev_parse /path/to/repo opts='--is-bare-repository'",
  ),
  { cwd: p.str(), rev: p.str(null), ...OPTIONS, ...RUN },
  (bound) => [...words(gitOptions(bound), "rev-parse"), ...bound.rev === null ? [] : [revisionWord(str(bound.rev))]],
);

export const revision: ModuleFunction<JobContext> = printing(
  document("Return the hash of a revision, with short=True its beginning.", "git.revision /path/to/repo mybranch"),
  { cwd: p.str(), rev: p.str("HEAD"), short: p.bool(false), ...RUN },
  (bound) => ["rev-parse", ...bound.short === true ? ["--short"] : [], revisionWord(str(bound.rev))],
);

export const rm: ModuleFunction<JobContext> = printing(
  document(
    "Remove a file, or those of a glob, also from the next commit. With a directory, opts='-r'.",
    "git.rm /path/to/repo foo/bar.py",
    "git.rm /path/to/repo foo/baz opts='-r'",
  ),
  { cwd: p.str(), filename: p.str(), ...OPTIONS, ...RUN },
  (bound) => [...words(gitOptions(bound), "rm"), "--", str(bound.filename)],
);

export const stash: ModuleFunction<JobContext> = printing(
  document(
    "Put changes aside, or what action says: list, show, pop, apply, drop, clear. Return what git says.",
    "git.stash /path/to/repo save opts='work in progress'",
    "git.stash /path/to/repo drop opts='stash@{1}'",
  ),
  { cwd: p.str(), action: p.str("save"), ...OPTIONS, ...RUN },
  (bound) => words(gitOptions(bound), "stash", revisionWord(str(bound.action), "action")),
);

export const status: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the files that differ from the last commit, by kind of change.",
    "git.status /path/to/repo",
  ),
  permissions: "all",
  params: { cwd: p.str(), ...RUN },
  run: async (bound, context) => parseStatus(await gitOutput(["status", "-z", "--porcelain"], runOf(bound), context)),
});

export const symbolic_ref: ModuleFunction<JobContext> = printing(
  document(
    "Return what a symbolic reference means, set it to value, or delete it with opts='--delete'.",
    "git.symbolic_ref /path/to/repo HEAD",
    "git.symbolic_ref /path/to/repo HEAD refs/heads/mybranch",
  ),
  { cwd: p.str(), ref: p.str(), value: p.str(null), ...OPTIONS, ...RUN },
  (bound) => {
    const options = gitOptionWords(bound.opts);
    if (bound.value !== null && (options.includes("-d") || options.includes("--delete"))) {
      throw new InvocationError("Value cannot be set for symbolic ref if -d/--delete is included in opts");
    }
    return [...words(gitOptions(bound), "symbolic-ref"), revisionWord(str(bound.ref)), ...revisionWords(bound.value)];
  },
);

export const tag: ModuleFunction<JobContext> = printing(
  document(
    "Tag a revision, with message by an object of its own; opts='-d' deletes the tag. Return what git says.",
    "git.tag /path/to/repo v1.2",
    "git.tag /path/to/repo v1.2 3b4a0c5 message='Version 1.2'",
  ),
  { cwd: p.str(), name: p.str(), ref: p.str("HEAD"), message: p.str(null), ...OPTIONS, ...RUN },
  (bound) => {
    const options = gitOptionWords(bound.opts).filter((one) => one !== "-a" && one !== "--annotate");
    if (options.some((one) => one === "-m" || one.includes("--message"))) {
      throw new InvocationError('Tag messages must be passed in the "message" argument');
    }
    return [
      ...gitOptionWords(bound.git_opts),
      "tag",
      ...bound.message === null ? [] : ["-a", "-m", str(bound.message)],
      ...options,
      revisionWord(str(bound.name), "tag"),
      ...options.includes("-d") || options.includes("--delete") ? [] : [revisionWord(str(bound.ref))],
    ];
  },
  { joined: true },
);

export const version: ModuleFunction<JobContext> = fn({
  doc: document(
    "Return the version of git; with versioninfo=True as a list, the numbers in it as such.",
    "git.version",
    "git.version versioninfo=True",
  ),
  permissions: "all",
  params: { versioninfo: p.bool(false) },
  async run({ versioninfo }, context) {
    const version = await gitVersion(context);
    return versioninfo ? version.split(".").map((part) => /^\d+$/.test(part) ? Number(part) : part) : version;
  },
});
