/**
 * Part of the state module `git`: a clone whose HEAD is a commit and no branch.
 * Source: Salt 3008.3 `salt/states/git.py` detached.
 * @module
 */

import { looksLikeCommit, refuseFile, shownUrl, targetOf, withLogin } from "./remote.ts";
import {
  clearTarget,
  ENCODING,
  fetchUrlOf,
  gitReasonOf,
  identitiesOf,
  orFailure,
  Report,
  Repository,
  sentences,
  WHO,
} from "./repository.ts";
import { orRefused, Refused } from "#modules/states/_refused.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { isMap, str, truthy, type Value } from "#lib/values/value.ts";

const DETACHED = {
  name: p.any(),
  rev: p.any(),
  target: p.any(),
  remote: p.any("origin"),
  ...WHO,
  force_clone: p.any(false),
  force_checkout: p.any(false),
  fetch_remote: p.any(true),
  hard_reset: p.any(false),
  submodules: p.any(false),
  identity: p.any(null),
  https_user: p.any(null),
  https_pass: p.any(null),
  ...ENCODING,
};

export const detached: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a repository is cloned, and its HEAD at a commit instead of a branch.

name
    The URL of the remote repository.

rev
    A commit, a branch or a tag.

target
    The directory of the clone.

remote : origin
    The name of the remote.

user, password
    The user who runs git. The password is for Windows.

force_clone : False
    Whether the contents of a directory that is no repository are removed.

force_checkout : False
    Whether changes that were not committed are lost.

fetch_remote : True
    Whether the remote is fetched, if the commit is not here.

hard_reset : False
    Whether the clone is reset to its HEAD first.

submodules : False
    Whether submodules are updated, too.

identity
    Private keys for ssh: a path, salt://, or a list.

https_user, https_pass
    User and password for https.

output_encoding
    The encoding of git's output. Default: UTF-8.`,
  params: DETACHED,
  run: (given, context) => orRefused(startResult(given.name), () => detach(given, context)),
});

/** The data of the state. */
interface Work {
  readonly given: Bound<typeof DETACHED>;
  readonly url: string;
  readonly rev: string;
  readonly remote: string;
  readonly repository: Repository;
  readonly report: Report;
  readonly https: { readonly https_user: string | null; readonly https_pass: string | null };
  /** The URL with user and password. */
  readonly fetchUrl: string;
  readonly access: { readonly identity: Value; readonly saltenv: string };
}

async function detach(given: Bound<typeof DETACHED>, context: StateContext): Promise<StateResult> {
  const rev = str(given.rev);
  if (!truthy(given.rev)) throw new Refused(`'${rev}' is not a valid value for the 'rev' argument`);
  if (!truthy(given.target)) throw new Refused(`'${rev}' is not a valid value for the 'target' argument`);
  const target = targetOf(given.target, "Target");
  const report = new Report(given.name, context.test);
  const https = { https_user: textOrNull(given.https_user), https_pass: textOrNull(given.https_pass) };
  const access = { identity: identitiesOf(given.identity, "Identity"), saltenv: saltenvOf(context) };
  refuseFile(target);
  const fetchUrl = withLogin(str(given.name), https.https_user, https.https_pass);
  const work: Work = {
    given,
    url: str(given.name),
    rev: looksLikeCommit(rev) ? rev.toLowerCase() : rev,
    remote: str(given.remote),
    repository: new Repository(target, given, context),
    report,
    https,
    fetchUrl,
    access,
  };
  const { repository } = work;
  const there = await repository.isThere();
  const before = there ? (await repository.head()).rev : null;
  if (!there) {
    const cloned = await cloneEmpty(work, target);
    if (cloned !== undefined) return cloned;
  }
  const isHere = there && looksLikeCommit(rev) && await repository.ask("describe", {}, [work.rev]) !== undefined;
  if (there && !looksLikeCommit(rev)) {
    const set = await setRemote(work);
    if (set !== undefined) return set;
  }
  if (!isHere && given.fetch_remote !== false) {
    if (report.test) return report.would(`Repository remote ${work.remote} would be fetched`);
    await fetch(work);
  }
  const commit = await commitOf(work);
  return await checkOut(work, { before, commit });
}

/**
 * Clones the repository without checking anything out.
 * @returns The result of test mode.
 */
async function cloneEmpty(
  { url, remote, given, repository, report, https, access }: Work,
  target: string,
): Promise<StateResult | undefined> {
  clearTarget(report, { target, name: url, force: truthy(given.force_clone), quiet: true });
  if (report.test) return report.would(`Repository ${url} would be cloned to ${target}`);
  await orFailure(report, async () => {
    const opts = ["--no-checkout", ...remote === "origin" ? [] : ["--origin", remote]];
    await repository.call("clone", { opts, ...https, ...access }, [url]);
    report.comments.push(`${url} cloned to ${target}`);
    return report.result("");
  });
  return undefined;
}

/**
 * Sets the URL of the remote if it is another.
 * @returns The result of test mode.
 */
async function setRemote({ url, fetchUrl, remote, repository, report, https }: Work): Promise<StateResult | undefined> {
  const current = fetchUrlOf(await repository.remotes(), remote);
  // Salt compares the URL without user and password, and sets it each time if they are given.
  if (current?.includes(url) || current === fetchUrl) return undefined;
  if (report.test) return report.would(`Remote ${remote} would be set to ${url}`);
  await repository.call("remote_set", { url, remote, ...https });
  report.comments.push(`Remote ${remote} updated from '${shownUrl(current)}' to '${url}'`);
  return undefined;
}

async function fetch({ remote, repository, report, access }: Work): Promise<void> {
  const refspecs = [`refs/heads/*:refs/remotes/${remote}/*`, "+refs/tags/*:refs/tags/*"];
  try {
    const changes = await repository.call("fetch", { remote, force: true, refspecs, ...access });
    if (truthy(changes)) report.comments.push(`Remote ${remote} was fetched, resulting in updated refs`);
  } catch (error) {
    if (error instanceof CommandError) throw report.failure(`Fetch failed:\n\n${error.message}`);
    throw error;
  }
}

/**
 * The commit that `rev` names in the clone.
 * @throws {Refused} If there is none.
 */
async function commitOf({ rev, remote, repository, report, access }: Work): Promise<string> {
  const missing = () => new Refused(`Revision '${rev}' does not exist`, { changes: report.changes });
  if (looksLikeCommit(rev)) {
    await repository.call("describe", {}, [rev]);
    return rev;
  }
  try {
    // Salt gives user and password with the path of the clone, too, and fails.
    const options = { identity: access.identity, ignore_retcode: false };
    const refs = await repository.anywhere("remote_refs", options, [repository.path]);
    const names = [`refs/remotes/${remote}/${rev}`, `refs/tags/${rev}`];
    const commit = isMap(refs) ? names.map((name) => refs.get(name)).find((sha) => sha !== undefined) : undefined;
    if (commit === undefined) throw missing();
    return str(commit);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new Refused(`Failed to list refs for ${remote}: ${gitReasonOf(error)}`, { changes: report.changes });
  }
}

async function checkOut(
  { given, repository, report, access }: Work,
  { before, commit }: { readonly before: string | null; readonly commit: string },
): Promise<StateResult> {
  const target = repository.path;
  if (truthy(given.hard_reset)) {
    if (report.test) return report.would(`Hard reset to HEAD would be performed on ${target}`);
    await repository.call("reset", { opts: ["--hard", "HEAD"] });
    report.comments.push("Repository was reset to HEAD before checking out revision");
  }
  const noteHead = (now: string | null) =>
    report.changes.set("HEAD", new Map<Value, Value>([["old", before], ["new", now]]));
  let now: string | null = null;
  if (commit !== before) {
    if (report.test) {
      noteHead(commit);
      return report.would(`Commit ID ${commit} would be checked out at ${target}`);
    }
    await repository.call("checkout", { force: truthy(given.force_checkout) }, [commit]);
    report.comments.push(`Commit ID ${commit} was checked out at ${target}`);
    now = (await repository.head()).rev;
  }
  if (truthy(given.submodules)) {
    const opts = ["--init", "--recursive"];
    await repository.call("submodule", { opts, identity: access.identity }, ["update"]);
    report.comments.push("Submodules were updated");
  }
  if (now === null) report.comments.push("Already checked out at correct revision");
  else noteHead(now);
  return report.result(sentences(report.comments));
}
