/**
 * The environments of a remote: which branches, tags and commits they are, and where their files appear. Source: the
 * results of Salt 3008.3 `salt/utils/gitfs.py` GitProvider.get_tree, `_get_envs_from_ref_paths`, add_conf_overlay.
 * @module
 */

import type { GitRemote, Refs } from "./remote.ts";
import type { RemoteOptions } from "./remote_options.ts";
import type { Tree } from "./tree.ts";

const BRANCHES = "refs/remotes/origin/", TAGS = "refs/tags/";

/** One remote with its environments. */
export class RemoteEnvs {
  readonly remote: GitRemote<RemoteOptions>;
  readonly #exposes: (saltenv: string) => boolean;
  /** The environments of the branches and tags that were asked for last. */
  #known: { readonly refs: Refs; readonly envs: readonly string[] } | undefined;

  /** @param exposes Whether the white and black list let an environment be served. */
  constructor(remote: GitRemote<RemoteOptions>, exposes: (saltenv: string) => boolean) {
    this.remote = remote;
    this.#exposes = exposes;
  }

  /** The directory of an environment in the repository, and where its files appear. */
  place(saltenv: string): { readonly root: string; readonly mountPoint: string } {
    const { root, mountPoint, saltenvs } = this.remote.options;
    return { root, mountPoint, ...saltenvs.get(saltenv) };
  }

  /** The environments that there are; one that the configuration names is included whether or not its branch exists. */
  async envs(): Promise<readonly string[]> {
    const refs = await this.remote.refs();
    if (this.#known?.refs !== refs) this.#known = { refs, envs: this.#envsOf(refs) };
    return this.#known.envs;
  }

  #envsOf(refs: Refs): string[] {
    const { base, refTypes, named, saltenvs } = this.remote.options;
    const mapped = Map.groupBy([...saltenvs].filter(([, { ref }]) => ref !== undefined), ([, { ref }]) => ref);
    const envs = new Set<string>([...mapped.values()].flatMap((entries) => entries.map(([saltenv]) => saltenv)));
    if (isHex(base)) envs.add("base");
    for (const name of refs.keys()) {
      const short = shortName(name, refTypes);
      if (short === undefined || mapped.has(short)) continue;
      if (short === base) envs.add("base");
      else if (!named) envs.add(short);
    }
    return [...envs].filter(this.#exposes);
  }

  /**
   * The files of an environment; `undefined` if the remote does not have it.
   * @param known The environments of all remotes: one that another remote has may be a branch of this one, though not
   * an environment.
   */
  async tree(saltenv: string, known: readonly string[]): Promise<Tree | undefined> {
    if (!this.#exposes(saltenv)) return undefined;
    const { fallback } = this.remote.options;
    const ref = this.#refOf(saltenv);
    if (ref === undefined || (fallback === "" && !isHex(saltenv) && !known.includes(saltenv))) return undefined;
    const commit = await this.#commitOf(ref) ?? (fallback === "" ? undefined : await this.#commitOf(fallback));
    return commit === undefined ? undefined : await this.remote.tree(commit);
  }

  #refOf(saltenv: string): string | undefined {
    const { allSaltenvs, base, named, saltenvs } = this.remote.options;
    if (allSaltenvs !== undefined) return allSaltenvs;
    if (saltenv === "base") return base;
    return saltenvs.get(saltenv)?.ref ?? (named ? undefined : saltenv);
  }

  /** The commit of a branch, a tag or a commit's name, in the order of the option `ref_types`. */
  async #commitOf(ref: string): Promise<string | undefined> {
    const refs = await this.remote.refs();
    for (const type of this.remote.options.refTypes) {
      const commit = type === "branch"
        ? refs.get(BRANCHES + ref)
        : type === "tag"
        ? refs.get(TAGS + ref)
        : await this.remote.commit(ref);
      if (commit !== undefined) return commit;
    }
    return undefined;
  }
}

/** The name of a branch or tag, if such a one may be an environment. `HEAD` stands for another branch. */
function shortName(ref: string, refTypes: readonly string[]): string | undefined {
  if (refTypes.includes("branch") && ref.startsWith(BRANCHES) && ref !== `${BRANCHES}HEAD`) {
    return ref.slice(BRANCHES.length);
  }
  return refTypes.includes("tag") && ref.startsWith(TAGS) ? ref.slice(TAGS.length) : undefined;
}

/** Python's `int(text, 16)`, as Salt asks. */
export function isHex(text: string): boolean {
  return /^[0-9a-f]+$/i.test(text);
}
