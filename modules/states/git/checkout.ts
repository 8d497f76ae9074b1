/**
 * The differences of an existing repository from what `git.latest` wants. Source: Salt 3008.3 `salt/states/git.py`
 * latest.
 * @module
 */

import { isWanted, type WantedRevision } from "./remote.ts";
import { gitReasonOf, type Report, type Repository, shortSha } from "./repository.ts";
import { notFastForward, staysBehind } from "./refusals.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { str, truthy, type ValueMap } from "#lib/values/value.ts";

/** The state of an existing repository. */
export interface Checkout {
  /** HEAD's commit; `null`: there is none yet. */
  readonly rev: string | null;
  /** HEAD's branch. */
  readonly branch: string | null;
  readonly branches: readonly string[];
  readonly tags: readonly string[];
  readonly remotes: ValueMap;
  /** The commit from which a merge or a reset begins: of the branch that will be checked out. */
  readonly base: string | null;
  /** What that branch tracks; `null`: there is no branch; `false`: nothing. */
  readonly upstream: string | null | false;
  /** Whether HEAD is at the wanted commit. */
  readonly matches: boolean;
  /** Whether something was not committed. */
  readonly localChanges: boolean;
  /** Whether the wanted commit is here, so that nothing needs to be fetched. */
  readonly hasCommit: boolean;
  /** Whether no commit is lost on the way there; `null`: only a fetch will tell. */
  readonly fastForward: boolean | null;
}

/**
 * Finds out; a result if nothing is to be done, or nothing may be.
 * @throws {Refused} If the state ends there.
 */
export async function inspect(
  wanted: WantedRevision,
  repository: Repository,
  report: Report,
): Promise<Checkout | StateResult> {
  const { target, forceReset, branch: wantedBranch } = wanted;
  const branches = await repository.names("list_branches");
  const tags = await repository.names("list_tags");
  const { rev, branch } = await repository.head();
  if (!wanted.bare && wanted.commit === null && rev !== null) {
    throw report.failure("Remote repository is empty, cannot update from a non-empty to an empty repository");
  }
  const other = wantedBranch !== null && wantedBranch !== branch;
  const exists = other && branches.includes(wantedBranch);
  // A new branch begins at the wanted commit.
  const base = !other ? rev : exists ? await positionOf(wantedBranch, repository, report) : wanted.commit;
  const remotes = await repository.remotes();
  const matches = isWanted(rev, wanted);
  const localChanges = !wanted.bare && truthy(await repository.attempt("diff", {}, ["HEAD"]));
  if (localChanges && matches) {
    if (forceReset !== true) return report.upToDate(target, report.comments, localChanges);
    if (report.test) {
      report.changes.set("forced update", true);
      return report.would(
        `${target} is up-to-date, but with uncommitted changes. Since 'force_reset' is set to True, these local changes would be reset. To ` +
          "only reset when there are changes in the remote repository, set 'force_reset' to 'remote-changes'.",
      );
    }
  }
  const hasCommit = await isHere(wanted, { base, tags, remotes }, repository, report);
  let fastForward = localChanges && forceReset !== "remote-changes" ? false : null;
  if (hasCommit) {
    if (!matches && !wanted.updateHead && !other) return report.result(staysBehind(wanted, rev));
    // Without a HEAD every commit is a step forward.
    fastForward ??= base === null || await repository.call("merge_base", {
          refs: [base, wanted.commit],
          is_ancestor: true,
          ignore_retcode: true,
        }) === true;
  }
  if (fastForward === false && forceReset === false) {
    throw notFastForward(wanted, { branch, base, localChanges }, report);
  }
  const upstream = await upstreamOf(exists ? wantedBranch : branch, repository);
  return { rev, branch, branches, tags, remotes, base, upstream, matches, localChanges, hasCommit, fastForward };
}

async function positionOf(branch: string, repository: Repository, report: Report): Promise<string> {
  try {
    return str(await repository.call("rev_parse", { ignore_retcode: true }, [`${branch}^{commit}`]));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw report.failure(`Unable to get position of local branch '${branch}': ${gitReasonOf(error)}`);
  }
}

/** What a branch tracks. */
export async function upstreamOf(branch: string | null, repository: Repository): Promise<string | null | false> {
  if (branch === null) return null;
  return await repository.commit(`${branch}@{upstream}`, ["--abbrev-ref"]) ?? false;
}

/**
 * Whether the wanted commit is here, and the names here that lead to it are the remote's.
 * @throws {Refused}
 */
async function isHere(
  { rev, commit, kind, remote, upstream, forceReset }: WantedRevision,
  { base, tags, remotes }: Pick<Checkout, "base" | "tags" | "remotes">,
  repository: Repository,
  report: Report,
): Promise<boolean> {
  if (commit === null) return false;
  if (kind === "sha1" && base?.startsWith(commit)) return true;
  if (await repository.commit(`${commit}^{commit}`) === undefined) return false;
  if (kind === "sha1") return true;
  if (kind === "branch") return remotes.has(remote) && await repository.commit(String(upstream)) === commit;
  if (!tags.includes(rev)) return false;
  const tag = await repository.commit(`${rev}^{commit}`) ?? null;
  if (tag === commit) return true;
  if (forceReset !== false) return false;
  throw report.failure(
    `'${rev}' is a tag, but the remote SHA1 for this tag (${shortSha(commit)}) doesn't match the local SHA1 (${
      shortSha(tag)
    }). Set ` +
      "'force_reset' to True to force this update.",
  );
}
