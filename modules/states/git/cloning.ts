/**
 * Clones the repository that `git.latest` wants.
 * Source: Salt 3008.3 `salt/states/git.py` latest.
 * @module
 */

import { upstreamOf } from "./checkout.ts";
import { isWanted, type WantedRevision } from "./remote.ts";
import { clearTarget, gitReasonOf, orFailure, type Report, type Repository, sentences } from "./repository.ts";
import { startingPoint, tracking, updateSubmodules } from "./update.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { str, type Value } from "#lib/values/value.ts";

/** Clones it, or in test mode says so. */
export async function cloneWanted(
  wanted: WantedRevision,
  repository: Repository,
  report: Report,
): Promise<StateResult> {
  const { url, target, bare, mirror, remote, depth, rev } = wanted;
  clearTarget(report, { target, name: url, force: wanted.forceClone });
  if (report.test) {
    report.changes.set("new", `${url} => ${target}`);
    return report.would(`Repository ${url} would be cloned to ${target}`);
  }
  return await orFailure(report, async () => {
    const opts = [
      ...mirror ? ["--mirror"] : bare ? ["--bare"] : [],
      ...remote === "origin" ? [] : ["--origin", remote],
      ...depth === null ? [] : ["--depth", str(depth), "--branch", rev],
    ];
    await clone(repository, { url, opts, ...wanted.https, ...wanted.access }, report);
    report.changes.set("new", `${url} => ${target}`);
    report.comments.push(`${url} cloned to ${target}${mirror ? " as mirror" : bare ? " as bare repository" : ""}`);
    if (!bare && wanted.commit !== null) await checkOutWanted(wanted, repository, report);
    if (wanted.submodules && wanted.commit !== null) await updateSubmodules(wanted, { repository, report });
    const { rev: now } = await repository.head();
    if (now !== null) report.changes.set("revision", new Map<Value, Value>([["old", null], ["new", now]]));
    return report.result(sentences(report.comments));
  });
}

/**
 * Runs `git clone`.
 * @throws {Refused} If it fails.
 */
export async function clone(
  repository: Repository,
  { url, ...options }: { readonly url: string } & Readonly<Record<string, unknown>>,
  report: Report,
): Promise<void> {
  try {
    await repository.call("clone", options, [url]);
  } catch (error) {
    if (error instanceof CommandError) throw report.failure(`Clone failed: ${gitReasonOf(error)}`);
    throw error;
  }
}

/** Makes the branch, the commit and what is tracked those that are wanted. */
async function checkOutWanted(wanted: WantedRevision, repository: Repository, report: Report): Promise<void> {
  const { rev, branch, kind, location } = wanted;
  if (kind === "tag" && !(await repository.names("list_tags")).includes(rev)) {
    throw report.failure(`Revision '${rev}' does not exist in clone`);
  }
  if (branch !== null && !(await repository.names("list_branches")).includes(branch)) {
    await repository.call("checkout", { opts: ["-b", branch] }, [startingPoint(wanted)]);
    report.comments.push(`Branch '${branch}' checked out, with ${location} as a starting point`);
  }
  const head = await repository.head();
  if (head.branch === null && !wanted.hasHead) {
    throw report.failure(
      "Remote HEAD refers to a ref that does not exist. This can happen when the default branch on the remote repository is renamed or " +
        "deleted. If you are unable to fix the remote repository, you can work around this by setting the 'branch' argument (which will " +
        "ensure that the named branch is created if it does not already exist).",
    );
  }
  if (!isWanted(head.rev, wanted)) {
    await repository.call("reset", { opts: ["--hard", wanted.commit] });
    report.comments.push(`Repository was reset to ${location}`);
  }
  const upstream = tracking(await upstreamOf(head.branch, repository) ?? false, wanted.upstream, "was");
  const isNew = branch !== null && upstream !== undefined && upstream.opts.length > 1 &&
    !(await repository.names("list_branches")).includes(branch);
  if (upstream === undefined || isNew) return;
  await repository.call("branch", { opts: upstream.opts });
  report.comments.push(upstream.comment);
}
