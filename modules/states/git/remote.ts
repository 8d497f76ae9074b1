/**
 * What `git.latest` wants: its arguments checked, and the revision that the remote repository has for them.
 * Source: Salt 3008.3 `salt/states/git.py` latest.
 * @module
 */

import { ENCODING, gitReasonOf, identitiesOf, type Report, Repository, WHO } from "./repository.ts";
import { Refused } from "#modules/states/_refused.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, p } from "#lib/plugins/module.ts";
import { hideCredentials, withCredentials } from "#lib/text/url_credentials.ts";
import { mapOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments of `git.latest`. */
export const LATEST = {
  name: p.any(),
  target: p.any(),
  rev: p.any("HEAD"),
  branch: p.any(null),
  ...WHO,
  update_head: p.any(true),
  force_checkout: p.any(false),
  force_clone: p.any(false),
  force_fetch: p.any(false),
  force_reset: p.any(false),
  submodules: p.any(false),
  bare: p.any(false),
  mirror: p.any(false),
  remote: p.any("origin"),
  fetch_tags: p.any(true),
  sync_tags: p.any(true),
  depth: p.any(null),
  identity: p.any(null),
  https_user: p.any(null),
  https_pass: p.any(null),
  refspec_branch: p.any("*"),
  refspec_tag: p.any("*"),
  ...ENCODING,
};

/** What a revision is: a commit, a branch or a tag. */
export type RevisionKind = "sha1" | "branch" | "tag";

/** What is wanted, and what the remote repository has. */
export interface WantedRevision {
  readonly url: string;
  readonly target: string;
  /** A branch, a tag, a commit or HEAD. */
  readonly rev: string;
  /** The local branch; `null`: the one that there is. */
  readonly branch: string | null;
  readonly remote: string;
  readonly updateHead: boolean;
  readonly forceCheckout: boolean;
  readonly forceClone: boolean;
  readonly forceFetch: boolean;
  readonly forceReset: boolean | "remote-changes";
  readonly submodules: boolean;
  readonly bare: boolean;
  readonly mirror: boolean;
  readonly syncTags: boolean;
  readonly depth: Value;
  /** Which references are fetched. */
  readonly refspecs: readonly string[];
  /** Keys for git's functions, with the environment that they come from. */
  readonly access: { readonly identity: Value; readonly saltenv: string };
  readonly https: { readonly https_user: string | null; readonly https_pass: string | null };
  /** The URL with user and password. */
  readonly fetchUrl: string;
  /** Arguments where git's large files are fetched. */
  readonly lfs: { readonly identity?: Value };
  /** The commit that is wanted; `null`: the remote repository has none. */
  readonly commit: string | null;
  readonly kind: RevisionKind | null;
  /** The branch to track: `null`, it stays; `false`, none. */
  readonly upstream: string | null | false;
  /** The remote revision, for people. */
  readonly location: string | null;
  /** The branch that HEAD is in the remote repository. */
  readonly defaultBranch: string | null;
  /** Whether the remote repository has a HEAD. */
  readonly hasHead: boolean;
}

/**
 * User and password for https in a URL.
 * @throws {Refused} If it is of another kind.
 */
export function withLogin(url: string, user: string | null, password: string | null): string {
  try {
    return withCredentials(url, user, password);
  } catch (error) {
    if (error instanceof InvocationError) throw new Refused(error.message);
    throw error;
  }
}

/**
 * An absolute path where no file is.
 * @throws {Refused} If it is another.
 */
export function targetOf(target: Value, word: string): string {
  const path = str(target);
  if (!path.startsWith("/")) throw new Refused(`${word} '${path}' is not an absolute path`);
  return path;
}

/** @throws {Refused} If a file is in the place of the repository. */
export function refuseFile(target: string): void {
  if (isFile(target)) throw new Refused(`Target '${target}' exists and is a regular file, cannot proceed`);
}

/** Whether `rev` may be a commit. */
export function looksLikeCommit(rev: string): boolean {
  return /^[0-9a-fA-F]{1,40}$/.test(rev);
}

/**
 * Checks the arguments that need no look at a repository.
 * @returns `force_reset`.
 * @throws {Refused} For the first that is wrong.
 */
function checkArguments({ remote, target, rev, force_reset }: Bound<typeof LATEST>): WantedRevision["forceReset"] {
  if (!truthy(remote)) throw new Refused("'remote' argument is required");
  if (!truthy(target)) throw new Refused("'target' argument is required");
  if (!truthy(rev)) throw new Refused(`'${str(rev)}' is not a valid value for the 'rev' argument`);
  if (typeof force_reset !== "boolean" && force_reset !== "remote-changes") {
    throw new Refused("'force_reset' must be one of True, False, or 'remote-changes'");
  }
  return force_reset;
}

/** The first branch at the commit of the remote's `HEAD`; `null` if there is none. */
function defaultBranch(refs: ValueMap): string | null {
  const head = refs.get("HEAD");
  if (head === undefined) return null;
  const branch = [...refs].find(([name, sha]) => str(name).startsWith("refs/heads/") && sha === head);
  return branch === undefined ? null : str(branch[0]).slice("refs/heads/".length);
}

/** The refspecs that are fetched besides those of the remote's configuration. */
function fetchedRefspecs({ remote, refspec_branch, refspec_tag, fetch_tags }: Bound<typeof LATEST>): string[] {
  if (!truthy(fetch_tags)) return [];
  const [branches, tags] = [str(refspec_branch), str(refspec_tag)];
  return [`refs/heads/${branches}:refs/remotes/${str(remote)}/${branches}`, `+refs/tags/${tags}:refs/tags/${tags}`];
}

/**
 * Checks the arguments, and asks the remote repository.
 * @throws {Refused} If there is nothing to be had.
 */
export async function findWanted(
  given: Bound<typeof LATEST>,
  report: Report,
  context: StateContext,
): Promise<WantedRevision> {
  const forceReset = checkArguments(given);
  const target = targetOf(given.target, "target");
  const access = { identity: identitiesOf(given.identity, "identity"), saltenv: saltenvOf(context) };
  const https = { https_user: textOrNull(given.https_user), https_pass: textOrNull(given.https_pass) };
  const filters = await context.call(
    "git.config_get_regexp",
    ["filter\\.lfs\\."],
    map({ global: true, ignore_retcode: true }),
  );
  refuseFile(target);
  const url = str(given.name);
  const fetchUrl = withLogin(url, https.https_user, https.https_pass);
  const mirror = truthy(given.mirror);
  const bare = mirror || truthy(given.bare);
  const rev = str(given.rev);
  if (rev !== "HEAD" && bare) {
    throw new Refused("'rev' is not compatible with the 'mirror' and 'bare' arguments");
  }
  const remote = str(given.remote);
  const refs = await remoteRefs(new Repository("/", given, context), url, { ...access, ...https }, report);
  const head = refs.get("HEAD");
  const revision = bare ? NOTHING : revisionOf(rev, { refs, remote, head: head === undefined ? undefined : str(head) });
  if (given.depth !== null && revision.kind !== "branch" && revision.kind !== "tag") {
    throw new Refused(
      "When 'depth' is used, 'rev' must be set to the name of a branch or tag on the remote repository",
    );
  }
  if (revision.commit === null && !bare && rev !== "HEAD") {
    throw new Refused(`No revision matching '${rev}' exists in the remote repository`);
  }
  return {
    url,
    target,
    branch: textOrNull(given.branch),
    remote,
    updateHead: truthy(given.update_head),
    forceCheckout: truthy(given.force_checkout),
    forceClone: truthy(given.force_clone),
    forceFetch: truthy(given.force_fetch),
    forceReset,
    submodules: truthy(given.submodules),
    bare,
    mirror,
    syncTags: truthy(given.sync_tags),
    depth: given.depth,
    refspecs: fetchedRefspecs(given),
    access,
    https,
    fetchUrl,
    lfs: truthy(filters) ? { identity: access.identity } : {},
    ...revision,
    defaultBranch: defaultBranch(refs),
    hasHead: head !== undefined,
  };
}

async function remoteRefs(
  anywhere: Repository,
  url: string,
  access: Readonly<Record<string, unknown>>,
  report: Report,
): Promise<ValueMap> {
  try {
    return mapOrEmpty(
      await anywhere.anywhere("remote_refs", {
        heads: false,
        tags: false,
        ignore_retcode: false,
        ...access,
      }, [url]),
    );
  } catch (error) {
    if (error instanceof CommandError) throw report.failure(`Failed to check remote refs: ${gitReasonOf(error)}`);
    throw error;
  }
}

type Found = Pick<WantedRevision, "rev" | "commit" | "kind" | "upstream" | "location">;

const NOTHING: Found = { rev: "HEAD", commit: null, kind: null, upstream: false, location: null };

/** What `rev` is in the remote repository. */
function revisionOf(
  rev: string,
  { refs, remote, head }: { readonly refs: ValueMap; readonly remote: string; readonly head: string | undefined },
): Found {
  const ref = (name: string) => {
    const sha = refs.get(name);
    return sha === undefined ? undefined : str(sha);
  };
  if (rev === "HEAD") {
    if (head === undefined) return { ...NOTHING, rev };
    return { rev, commit: head, kind: "sha1", upstream: null, location: `remote HEAD (${head.slice(0, 7)})` };
  }
  const branch = ref(`refs/heads/${rev}`);
  if (branch !== undefined) {
    const upstream = `${remote}/${rev}`;
    return { rev, commit: branch, kind: "branch", upstream, location: `${upstream} (${branch.slice(0, 7)})` };
  }
  // Of an annotated tag, the commit that it names.
  const tag = ref(`refs/tags/${rev}^{}`) ?? ref(`refs/tags/${rev}`);
  if (tag !== undefined) {
    return { rev, commit: tag, kind: "tag", upstream: false, location: `${rev} (${tag.slice(0, 7)})` };
  }
  if (!looksLikeCommit(rev)) return { ...NOTHING, rev };
  const commit = rev.toLowerCase();
  return { rev: commit, commit, kind: "sha1", upstream: false, location: commit.slice(0, 7) };
}

/** Whether a commit is the wanted one, which may be the beginning of its name. */
export function isWanted(commit: string | null, { commit: wanted, kind }: WantedRevision): boolean {
  if (commit === null || wanted === null) return commit === wanted;
  return kind === "sha1" ? commit.startsWith(wanted) : commit === wanted;
}

/** A URL as it is shown. */
export function shownUrl(url: string | null): string {
  return url === null ? "None" : hideCredentials(url);
}
