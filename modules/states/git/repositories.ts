/**
 * State module `git`: repositories that are there, at a revision. This file has `latest`, `present` and `cloned`;
 * `detaching.ts` has `detached`, `configuring.ts` the configuration.
 * Source: Salt 3008.3 `salt/states/git.py`.
 * @module
 */

import { clone, cloneWanted } from "./cloning.ts";
import { findWanted, LATEST } from "./remote.ts";
import { ENCODING, Report, Repository, sentences, WHO } from "./repository.ts";
import { update } from "./update.ts";
import { orRefused, Refused } from "#modules/states/_refused.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { isDirectory, isFile, mayExist } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["git.version"], otherwise: "git module could not be loaded" }],
};

export const latest: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a repository is cloned, and up to date with a revision.

name
    The URL of the remote repository, or its path on the minion.

target
    The directory of the clone.

rev : HEAD
    A branch, a tag or a commit of the remote repository.

branch
    The local branch, which is checked out or created. Default: the current one.

user, password
    The user who runs git. The password is for Windows.

update_head : True
    Whether the local branch is moved, or only fetched.

force_checkout : False
    Whether changes that were not committed are lost when another branch is checked out.

force_clone : False
    Whether the contents of a directory that is no repository are removed.

force_fetch : False
    Whether references are fetched that are not a fast-forward.

force_reset : False
    Whether commits and changes may be lost; \`remote-changes\`: changes only if the remote has something new.

submodules : False
    Whether submodules are updated, too.

bare, mirror : False
    Whether the clone is a bare one, or a mirror.

remote : origin
    The name of the remote.

fetch_tags, sync_tags : True
    Whether tags are fetched, and whether tags are removed that the remote does not have.

depth
    How many commits are cloned, for a branch or a tag.

identity
    Private keys for ssh: a path, salt://, or a list.

https_user, https_pass
    User and password for https.

refspec_branch, refspec_tag : \\*
    Which branches and tags are fetched.

output_encoding
    The encoding of git's output. Default: UTF-8.`,
  params: LATEST,
  run: (given, context) => {
    const report = new Report(given.name, context.test);
    return orRefused(startResult(given.name), async () => {
      const wanted = await findWanted(given, report, context);
      const repository = new Repository(wanted.target, given, context);
      return await repository.isThere(wanted.bare)
        ? await update(wanted, repository, report)
        : await cloneWanted(wanted, repository, report);
    });
  },
});

const PRESENT = {
  name: p.any(),
  force: p.any(false),
  bare: p.any(true),
  template: p.any(null),
  separate_git_dir: p.any(null),
  shared: p.any(null),
  ...WHO,
  ...ENCODING,
};

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a directory has a repository.

name
    The directory.

force : False
    Whether the directory is removed first, if it is no repository.

bare : True
    Whether it is a bare one.

template
    The directory that \`git init\` copies from.

separate_git_dir
    The directory for git's own files.

shared
    Who may write it, as \`git init\` has it: group, world, an octal number.

user, password
    The user who runs git. The password is for Windows.

output_encoding
    The encoding of git's output. Default: UTF-8.`,
  params: PRESENT,
  run: (given, context) => orRefused(startResult(given.name), () => makePresent(given, context)),
});

async function makePresent(given: Bound<typeof PRESENT>, context: StateContext): Promise<StateResult> {
  const report = new Report(given.name, context.test);
  const name = str(given.name);
  const kind = truthy(given.bare) ? "bare " : "";
  const repository = new Repository(name, given, context);
  if (isDirectory(name)) {
    const there = kind === "" ? await repository.isThere() : isFile(`${name}/HEAD`);
    if (there) return report.result("");
    if (truthy(given.force)) {
      if (context.test) {
        report.changes.set("new", name).set("forced init", true);
        return report.would(
          `Target directory ${name} exists. Since force=True, the contents of ${name} would be deleted, and a ${kind}repository would be ` +
            "initialized in its place.",
        );
      }
      try {
        removeAny(name);
      } catch (error) {
        throw report.failure(`Unable to remove ${name}: ${pythonOsError(error, name)}`);
      }
      report.changes.set("forced init", true);
    } else if ([...Deno.readDirSync(name)].length > 0) {
      throw report.failure(
        `Target '${name}' exists, is non-empty, and is not a git repository. Set the 'force' option to True to remove this directory's ` +
          "contents and proceed with initializing a repository",
      );
    }
  }
  if (context.test) {
    report.changes.set("new", name);
    return report.would(`New ${kind}repository would be created`);
  }
  const { template, separate_git_dir, shared } = given;
  await repository.anywhere("init", { cwd: name, bare: kind !== "", template, separate_git_dir, shared }, []);
  report.comments.push(`Initialized ${kind}repository in ${name}`);
  if (truthy(template)) report.comments.push(`Template directory set to ${str(template)}`);
  if (truthy(separate_git_dir)) report.comments.push(`Gitdir set to ${str(separate_git_dir)}`);
  report.changes.set("new", name);
  return report.result(sentences(report.comments));
}

const CLONED = {
  name: p.any(),
  target: p.any(),
  branch: p.any(null),
  ...WHO,
  identity: p.any(null),
  https_user: p.any(null),
  https_pass: p.any(null),
  ...ENCODING,
};

export const cloned: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a repository is cloned, with a branch checked out. An existing clone is not updated.

name
    The URL of the remote repository.

target
    The directory of the clone.

branch
    The branch. Default: that of the remote repository's HEAD; in an existing clone, the current one.

user, password
    The user who runs git. The password is for Windows.

identity
    Private keys for ssh: a path, or a list.

https_user, https_pass
    User and password for https.

output_encoding
    The encoding of git's output. Default: UTF-8.`,
  params: CLONED,
  run: (given, context) => orRefused(startResult(given.name), () => makeCloned(given, context)),
});

async function makeCloned(given: Bound<typeof CLONED>, context: StateContext): Promise<StateResult> {
  const { name, identity, https_user, https_pass } = given;
  if (given.target === null) return failState(name, "'target' argument is required");
  const target = str(given.target);
  if (!target.startsWith("/")) return failState(name, "'target' path must be absolute");
  const branch = given.branch === null ? null : str(given.branch);
  if (branch === "") return failState(name, "Invalid 'branch' argument");
  const report = new Report(name, context.test);
  const repository = new Repository(target, given, context);
  if (mayExist(target)) {
    try {
      await repository.call("status");
    } catch (error) {
      context.signal.throwIfAborted();
      throw report.failure(messageOf(error));
    }
    return await changeBranch(branch, repository, report);
  }
  const how = `${target}${branch === null ? "" : ` with branch '${branch}'`}`;
  if (!context.test) {
    const opts = branch === null ? {} : { opts: ["--branch", branch] };
    await clone(repository, { url: str(name), ...opts, identity, https_user, https_pass }, report);
  }
  report.changes.set("new", `${str(name)} => ${target}`);
  return context.test
    ? report.would(`${str(name)} would be cloned to ${how}`)
    : report.result(`${str(name)} cloned to ${how}`);
}

/** Checks out the branch of a clone. */
async function changeBranch(
  branch: string | null,
  repository: Repository,
  report: Report,
): Promise<StateResult> {
  const there = `Repository already exists at ${repository.path}`;
  if (branch === null) return report.result(there);
  const current = str(await repository.call("current_branch"));
  if (current === branch) return report.result(`${there} and is checked out to branch '${branch}'`);
  const noteBranch = () => report.changes.set("branch", new Map<Value, Value>([["old", current], ["new", branch]]));
  if (report.test) {
    noteBranch();
    return report.would(`Branch would be changed to '${branch}'`);
  }
  const exists = await repository.commit(branch) !== undefined;
  try {
    if (exists) await repository.call("checkout", { rev: branch });
    else await repository.call("checkout", { rev: `origin/${branch}`, opts: ["-b", branch] });
  } catch (error) {
    if (error instanceof CommandError) {
      throw new Refused(`Failed to change branch to '${branch}': ${error.message}`, { changes: report.changes });
    }
    throw error;
  }
  noteBranch();
  return report.result(`Branch changed to '${branch}'`);
}
