/**
 * The reasons why `git.latest` does not change a repository. Source: Salt 3008.3 `salt/states/git.py` latest,
 * _not_fast_forward.
 * @module
 */

import type { WantedRevision } from "./remote.ts";
import { type Report, shortSha } from "./repository.ts";
import type { Refused } from "#modules/states/_refused.ts";

/** Where the repository is. */
interface Position {
  /** HEAD's branch. */
  readonly branch: string | null;
  /** The commit from which a merge or a reset begins. */
  readonly base: string | null;
  /** Whether something was not committed. */
  readonly localChanges: boolean;
}

/** The comment if HEAD stays although the remote has another revision. */
export function staysBehind({ rev, location }: WantedRevision, local: string | null): string {
  const there = location ?? "";
  const word = rev === "HEAD" ? there.slice(0, 1).toUpperCase() + there.slice(1).toLowerCase() : there;
  return `${word} is already present and local HEAD (${
    shortSha(local)
  }) does not match, but update_head=False. HEAD has not been ` +
    "updated locally.";
}

/** The failure of an update that would lose commits or changes. */
export function notFastForward(
  { rev, branch, commit, defaultBranch }: WantedRevision,
  { branch: local, base, localChanges }: Position,
  report: Report,
): Refused {
  let advice = "";
  if (branch === null && rev !== "HEAD" && local !== rev) {
    advice =
      ` The desired rev (${rev}) differs from the name of the local branch (${
        local ?? "None"
      }), if the desired rev is a branch name ` +
      `then a forced update could possibly be avoided by setting the 'branch' argument to '${rev}' instead.`;
  } else if (branch === null && rev === "HEAD" && defaultBranch !== null && local !== defaultBranch) {
    advice =
      ` The default remote branch (${defaultBranch}) differs from the local branch (${
        local ?? "None"
      }). This could be caused by ` +
      "changing the default remote branch, or if the local branch was manually changed. Rather than forcing an update, it may be advisable " +
      `to set the 'branch' argument to '${defaultBranch}' instead. To ensure that this state follows the '${defaultBranch}' branch instead ` +
      `of the remote HEAD, set the 'rev' argument to '${defaultBranch}'.`;
  }
  const [before, after] = [shortSha(base), shortSha(commit)];
  const way = localChanges && before !== after ? `from ${before} to ${after}` : `to ${after}`;
  const other = branch !== null && branch !== local ? ` (after checking out local branch '${branch}')` : "";
  const why = localChanges ? "there are uncommitted changes" : "this is not a fast-forward merge";
  return report.failure(
    `Repository would be updated ${way}${other}, but ${why}. Set 'force_reset' to True${
      localChanges ? " (or 'remote-changes')" : ""
    } to force this update${localChanges ? " and discard these changes" : ""}.${advice}`,
  );
}
