/**
 * Updates an existing repository to the revision that `git.latest` wants.
 *
 * The differences are found first (`checkout.ts`); in test mode they are reported, else they are applied. Source:
 * Salt 3008.3 `salt/states/git.py` latest.
 * @module
 */

import { type Checkout, inspect } from "./checkout.ts";
import { notFastForward, staysBehind } from "./refusals.ts";
import { isWanted, shownUrl, type WantedRevision } from "./remote.ts";
import { fetchUrlOf, gitReasonOf, orFailure, type Report, type Repository, sentences, shortSha } from "./repository.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { compareStrings, isMap, str, truthy, type Value } from "#lib/values/value.ts";

/** Updates it, or in test mode says how. */
export async function update(wanted: WantedRevision, repository: Repository, report: Report): Promise<StateResult> {
  let before: string | null = null;
  const done = await orFailure(report, async () => {
    const checkout = await inspect(wanted, repository, report);
    if ("result" in checkout) return checkout;
    before = checkout.rev;
    const moved = await changeRemote(wanted, checkout, { repository, report });
    if (moved !== undefined) return moved;
    if (wanted.commit !== null) {
      if (report.test) return wouldUpdate(wanted, checkout, report);
      const stopped = await updateCheckout(wanted, checkout, { repository, report });
      if (stopped !== undefined) return stopped;
    } else if (wanted.bare) {
      const comment = `Bare repository at ${wanted.target} would be fetched`;
      if (report.test) {
        return report.changes.size > 0 ? report.would(comment) : report.upToDate(wanted.target, [comment]);
      }
      const fetched = await fetch(wanted, { repository, report });
      report.comments.push(
        `Bare repository at ${wanted.target} was fetched${fetched ? ", resulting in updated refs" : ""}`,
      );
    }
    const { rev: after } = await repository.head();
    if (!wanted.bare && !isWanted(after, wanted)) throw report.failure("Failed to update repository");
    if (before === after) return report.upToDate(wanted.target, report.comments);
    report.changes.set("revision", new Map<Value, Value>([["old", before], ["new", after]]));
    return report.result(sentences(report.comments));
  });
  return done;
}

/** What the steps of an update need. */
interface Work {
  readonly repository: Repository;
  readonly report: Report;
}

/** The branch that is to be checked out; `undefined`: none. */
function otherBranch({ branch }: WantedRevision, { branch: current }: Checkout): string | undefined {
  return branch === null || branch === current ? undefined : branch;
}

/**
 * Sets the remote's URL.
 * @returns The result of test mode if it is another.
 */
async function changeRemote(
  wanted: WantedRevision,
  checkout: Checkout,
  { repository, report }: Work,
): Promise<StateResult | undefined> {
  const { remote, url, commit } = wanted;
  const current = fetchUrlOf(checkout.remotes, remote);
  if (commit === null || wanted.fetchUrl === current) return undefined;
  const from = `from ${shownUrl(current)} to ${shownUrl(wanted.fetchUrl)}`;
  if (report.test) {
    const actions = [`Remote '${remote}' would be changed ${from}`];
    if (!checkout.hasCommit) actions.push("Remote would be fetched");
    if (!checkout.matches && wanted.updateHead) {
      report.changes.set("revision", new Map<Value, Value>([["old", checkout.rev], ["new", commit]]));
      if (checkout.fastForward === false) report.changes.set("forced update", true);
      actions.push(`Repository would be ${actionOf(checkout)} to ${shortSha(commit)}`);
    }
    if (report.changes.size > 0) return report.would(sentences(actions));
    return !checkout.matches && !wanted.updateHead
      ? report.result(sentences(actions))
      : report.upToDate(wanted.target, actions);
  }
  await repository.call("remote_set", { url, remote, ...wanted.https });
  if (current === null) {
    report.comments.push(`Remote '${remote}' set to ${shownUrl(wanted.fetchUrl)}`);
    report.changes.set("new", `${url} => ${remote}`);
  } else {
    report.comments.push(`Remote '${remote}' changed ${from}`);
  }
  return undefined;
}

/** What is done to the branch. */
function actionOf({ fastForward }: Checkout): string {
  return fastForward === false ? "hard-reset" : fastForward === true ? "fast-forwarded" : "updated";
}

/** The change of the tracking branch, and its text; `undefined`: none. */
export function tracking(
  upstream: string | null | false,
  wanted: string | null | false,
  verb: "would be" | "was",
): { readonly opts: readonly string[]; readonly comment: string } | undefined {
  const set = (how: string) => ({
    opts: ["--set-upstream-to", String(wanted)],
    comment: `Tracking branch ${verb} ${how} ${String(wanted)}`,
  });
  if (!upstream && wanted) return set("set to");
  if (upstream && wanted === false) return { opts: ["--unset-upstream"], comment: `Tracking branch ${verb} unset` };
  if (wanted && upstream !== wanted) return set("updated to");
  return undefined;
}

/** The result of test mode. */
function wouldUpdate(wanted: WantedRevision, checkout: Checkout, report: Report): StateResult {
  const { remote, location, commit, updateHead } = wanted;
  const actions: string[] = [];
  if (!checkout.hasCommit) actions.push(`Remote '${remote}' would be fetched`);
  const other = otherBranch(wanted, checkout);
  if (!checkout.matches && (updateHead || other !== undefined)) {
    report.changes.set("revision", new Map<Value, Value>([["old", checkout.rev], ["new", commit]]));
  }
  if (other !== undefined && !checkout.branches.includes(other)) {
    actions.push(`New branch '${other}' would be checked out, with ${location} as a starting point`);
    if (wanted.upstream) actions.push(`Tracking branch would be set to ${wanted.upstream}`);
  } else if (other !== undefined) {
    actions.push(`Branch '${other}' would be checked out and ${actionOf(checkout)} to ${shortSha(commit)}`);
  } else if (!checkout.matches) {
    const reset = wanted.forceReset !== false && checkout.hasCommit ? "hard-reset" : "updated";
    const how = checkout.fastForward === true ? "fast-forwarded" : reset;
    actions.push(
      updateHead
        ? `Repository would be ${how} from ${shortSha(checkout.rev)} to ${shortSha(commit)}`
        : `Local HEAD (${
          shortSha(checkout.rev)
        }) does not match ${location} but update_head=False, HEAD would not be ` +
          "updated locally",
    );
  }
  const upstream = tracking(checkout.upstream, wanted.upstream, "would be");
  if (upstream !== undefined) actions.push(upstream.comment);
  if (report.changes.size > 0) return report.would(sentences(actions));
  if (!checkout.matches && !updateHead && actions.length > 0) return report.result(sentences(actions));
  return report.upToDate(wanted.target, actions);
}

/**
 * Fetches from the remote.
 * @returns Whether references have changed.
 */
async function fetch(wanted: WantedRevision, { repository, report }: Work): Promise<boolean> {
  const { remote, forceFetch: force, refspecs, access } = wanted;
  try {
    return truthy(await repository.call("fetch", { remote, force, refspecs, ...access }));
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw report.failure(
      "Fetch failed. Set 'force_fetch' to True to force the fetch if the failure was due to not being able to fast-forward. Output of the " +
        `fetch command follows:\n\n${gitReasonOf(error)}`,
    );
  }
}

/**
 * Makes the local tags those of the remote.
 * @returns Whether they differed.
 */
async function syncTags(wanted: WantedRevision, checkout: Checkout, { repository, report }: Work): Promise<boolean> {
  const { remote, access } = wanted;
  const cwd = repository.path;
  const options = { cwd, remote, opts: "--tags", ...access, ignore_retcode: true };
  const tags = await repository.anywhere("ls_remote", options, []);
  const there = [...isMap(tags) ? tags.keys() : []].map(str).filter((name) => !name.includes("^{}"))
    .map((name) => name.replaceAll("refs/tags/", ""));
  const added = there.filter((tag) => !checkout.tags.includes(tag)).sort(compareStrings);
  const deleted = checkout.tags.filter((tag) => !there.includes(tag)).sort(compareStrings);
  if (added.length > 0) report.changes.set("new_tags", added);
  const removed: string[] = [];
  for (const tag of wanted.syncTags ? deleted : []) {
    try {
      await repository.call("tag", { opts: "-d" }, [tag]);
      removed.push(tag);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      report.warnings.push(`Failed to remove local tag '${tag}':\n\n${error.message}\n\n`);
    }
  }
  if (removed.length > 0) {
    report.changes.set("deleted_tags", removed);
    report.comments.push(`The following tags were removed from the local checkout: ${removed.join(", ")}`);
  }
  return added.length + deleted.length > 0;
}

/**
 * Fetches, checks out, and moves the branch.
 * @returns A result if it ends there.
 */
async function updateCheckout(
  wanted: WantedRevision,
  checkout: Checkout,
  work: Work,
): Promise<StateResult | undefined> {
  const { repository, report } = work;
  const upstream = tracking(checkout.upstream, wanted.upstream, "was");
  // Checking out a new branch sets what it tracks.
  const isNew = wanted.branch !== null && !checkout.branches.includes(wanted.branch);
  const sets = upstream !== undefined && !(isNew && upstream.opts.length > 1);
  if (sets && checkout.branch === null) {
    throw report.failure(
      "Cannot set/unset upstream tracking branch, local HEAD refers to nonexistent branch. This may have been caused by cloning a remote " +
        "repository for which the default branch was renamed or deleted. If you are unable to fix the remote repository, you can work " +
        "around this by setting the 'branch' argument (which will ensure that the named branch is created if it does not already exist).",
    );
  }
  let { fastForward } = checkout;
  const tagsDiffer = await syncTags(wanted, checkout, work);
  if (!checkout.hasCommit || tagsDiffer) {
    const fetched = await fetchCommit(wanted, checkout, work);
    if (typeof fetched !== "boolean") return fetched;
    fastForward = fetched;
  }
  const other = otherBranch(wanted, checkout);
  if (other !== undefined) await checkOut(other, wanted, checkout, work);
  await moveBranch(wanted, { ...checkout, fastForward }, work);
  if (sets) {
    await repository.call("branch", { opts: upstream.opts });
    report.comments.push(upstream.comment);
  }
  await forward(wanted, { ...checkout, fastForward }, work);
  if (wanted.submodules) await updateSubmodules(wanted, work);
  return undefined;
}

/**
 * Fetches the commit.
 * @returns Whether the update is a fast forward; or the result, if HEAD is to stay where it is.
 */
async function fetchCommit(wanted: WantedRevision, checkout: Checkout, work: Work): Promise<boolean | StateResult> {
  const { repository, report } = work;
  const commit = wanted.commit ?? "";
  if (await fetch(wanted, work)) report.comments.push(`${wanted.url} was fetched, resulting in updated refs`);
  try {
    await repository.call("rev_parse", { ignore_retcode: true }, [`${commit}^{commit}`]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    report.comments.length = 0;
    throw report.failure(
      `Fetch did not successfully retrieve rev '${wanted.rev}' from ${wanted.url}: ${error.message}`,
    );
  }
  if (!checkout.matches && !wanted.updateHead && otherBranch(wanted, checkout) === undefined) {
    return report.result(staysBehind(wanted, checkout.rev));
  }
  const fastForward = checkout.base === null ||
    await repository.call("merge_base", { refs: [checkout.base, commit], is_ancestor: true }) === true;
  const forced = wanted.forceReset !== false;
  if (!forced && (!fastForward || checkout.localChanges)) throw notFastForward(wanted, checkout, report);
  return fastForward;
}

/** Checks out the branch. */
async function checkOut(
  branch: string,
  wanted: WantedRevision,
  checkout: Checkout,
  { repository, report }: Work,
): Promise<void> {
  if (checkout.localChanges && !wanted.forceCheckout) {
    report.comments.length = 0;
    throw report.failure(
      `Local branch '${
        checkout.branch ?? "None"
      }' has uncommitted changes. Set 'force_checkout' to True to discard them and proceed.`,
    );
  }
  if (checkout.branches.includes(branch)) {
    await repository.call("checkout", { force: wanted.forceCheckout, opts: [] }, [branch]);
    report.comments.push(`'${branch}' was checked out`);
    return;
  }
  const opts = ["-b", branch];
  await repository.call("checkout", { force: wanted.forceCheckout, opts }, [startingPoint(wanted)]);
  report.comments.push(`New branch '${branch}' was checked out, with ${wanted.location} as a starting point`);
}

/** Where a new branch begins. */
export function startingPoint({ rev, commit, upstream }: WantedRevision): string {
  return rev === "HEAD" ? commit ?? "" : upstream || rev;
}

/** Resets the branch, or discards what was not committed. */
async function moveBranch(wanted: WantedRevision, checkout: Checkout, { repository, report }: Work): Promise<void> {
  if (checkout.fastForward === false) {
    await repository.call("reset", { opts: ["--hard", wanted.commit], ...wanted.lfs });
    report.changes.set("forced update", true);
    if (checkout.localChanges) report.comments.push("Uncommitted changes were discarded");
    report.comments.push(`Repository was hard-reset to ${wanted.location}`);
  } else if (checkout.fastForward === true && checkout.localChanges && wanted.forceReset !== false) {
    await repository.call("discard_local_changes");
    report.comments.push("Uncommitted changes were discarded");
  }
}

/** Moves the branch forward to the commit. */
async function forward(wanted: WantedRevision, checkout: Checkout, { repository, report }: Work): Promise<void> {
  const { rev, commit, upstream, location, lfs } = wanted;
  if (checkout.fastForward !== true || isWanted(checkout.base, wanted)) return;
  if (!upstream && rev !== "HEAD") {
    await repository.call("reset", { opts: ["--hard", rev], ...lfs });
    report.comments.push(`Repository was reset to ${rev} (fast-forward)`);
    return;
  }
  // It fails where HEAD is detached.
  await repository.call("symbolic_ref", { opts: ["--quiet"], ignore_retcode: true }, ["HEAD"]);
  await repository.call("merge", { rev: commit, opts: ["--ff-only"], ...lfs });
  report.comments.push(`Repository was fast-forwarded to ${location}`);
}

/** Brings the submodules along. */
export async function updateSubmodules({ access }: WantedRevision, { repository, report }: Work): Promise<void> {
  try {
    await repository.call("submodule", { opts: ["--init", "--recursive"], ...access }, ["update"]);
  } catch (error) {
    if (error instanceof CommandError) throw report.failure(`Failed to update submodules: ${gitReasonOf(error)}`);
    throw error;
  }
}
