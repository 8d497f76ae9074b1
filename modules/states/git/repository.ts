/**
 * A repository of this host for the states of `git`: functions of the execution module `git` with the state's user, and
 * the state's report. Source: Salt 3008.3 `salt/states/git.py`.
 * @module
 */

import { Refused } from "#modules/states/_refused.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { listOrEmpty, mapOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The user who runs git, and the encoding of its output. */
export const WHO = { user: p.any(null), password: p.any(null) };
/** Python's name of the encoding. */
export const ENCODING = { output_encoding: p.any(null) };

/** Who runs git. */
export interface Who {
  readonly user: Value;
  readonly password: Value;
  readonly output_encoding: Value;
}

/** A directory, and functions of `git` for it. */
export class Repository {
  readonly #who: Readonly<Record<string, Value>>;

  constructor(readonly path: string, who: Who, readonly context: StateContext) {
    const { user, password, output_encoding } = who;
    this.#who = {
      user: textOrNull(user),
      password: textOrNull(password),
      output_encoding: textOrNull(output_encoding),
    };
  }

  /**
   * Calls a function that takes the directory first.
   * @throws {CommandError} If git fails.
   */
  call(fun: string, kwargs: Readonly<Record<string, unknown>> = {}, args: Value[] = []): Promise<Value> {
    return this.anywhere(fun, kwargs, [this.path, ...args]);
  }

  /**
   * Calls a function with these arguments alone.
   * @throws {CommandError} If git fails.
   */
  anywhere(fun: string, kwargs: Readonly<Record<string, unknown>>, args: Value[]): Promise<Value> {
    return this.context.call(`git.${fun}`, args, map({ ...this.#who, ...kwargs }));
  }

  /** What a function returns; `undefined` if git fails. */
  async attempt(
    fun: string,
    kwargs: Readonly<Record<string, unknown>> = {},
    args: Value[] = [],
  ): Promise<Value | undefined> {
    try {
      return await this.call(fun, kwargs, args);
    } catch (error) {
      if (error instanceof CommandError) return undefined;
      throw error;
    }
  }

  /** The same, where a failure of git is not a failure of the job. */
  ask(fun: string, kwargs: Readonly<Record<string, unknown>> = {}, args: Value[] = []): Promise<Value | undefined> {
    return this.attempt(fun, { ignore_retcode: true, ...kwargs }, args);
  }

  /** The commit that `rev` names; `undefined` if there is none here. */
  async commit(rev: string, opts?: string[]): Promise<string | undefined> {
    const revision = await this.ask("rev_parse", opts === undefined ? {} : { opts }, [rev]);
    return revision === undefined ? undefined : str(revision);
  }

  /** What HEAD is: a commit, and the branch that it is on; `null` where there is none. */
  async head(): Promise<{ readonly rev: string | null; readonly branch: string | null }> {
    const [rev, branch] = [await this.ask("revision"), await this.ask("current_branch")];
    return { rev: rev === undefined ? null : str(rev), branch: branch === undefined ? null : str(branch) };
  }

  /** Names that a function lists. */
  async names(fun: "list_branches" | "list_tags"): Promise<string[]> {
    return listOrEmpty(await this.call(fun)).map(str);
  }

  /** The URLs of the remotes, with passwords: `{name: {fetch, push}}`. */
  async remotes(): Promise<ValueMap> {
    return mapOrEmpty(await this.call("remotes", { redact_auth: false }));
  }

  /**
   * Whether there is a repository, or a worktree of one.
   * @param bare Whether it is to be a bare one.
   */
  async isThere(bare = false): Promise<boolean> {
    return isDirectory(`${this.path}/${bare ? "refs" : ".git"}`) || truthy(await this.call("is_worktree"));
  }
}

/** The URL from which a remote is fetched; `null` if there is no such remote. */
export function fetchUrlOf(remotes: ValueMap, remote: string): string | null {
  const urls = remotes.get(remote);
  return textOrNull(isMap(urls) ? urls.get("fetch") ?? null : null);
}

/** Sentences as one text. */
export function sentences(comments: readonly string[]): string {
  return comments.join(". ") + (comments.length > 1 ? "." : "");
}

/** What git said, without the command that it said it of. */
export function gitReasonOf(error: CommandError): string {
  return error.message.replace(/^Command ['"].+['"] failed: /, "");
}

/** The first letters of a commit. */
export function shortSha(rev: string | null): string {
  return rev === null ? "None" : rev.slice(0, 7);
}

/** The actions of a state, and its result. */
export class Report {
  readonly changes: ValueMap = new Map();
  readonly comments: string[] = [];
  readonly warnings: string[] = [];

  constructor(readonly name: Value, readonly test: boolean) {}

  /** The result with a comment. */
  result(comment: string, result: boolean | null = true): StateResult {
    const { name, changes, warnings } = this;
    return { name, result, comment, changes, ...warnings.length > 0 && { warnings } };
  }

  /** A failure, with what was done before it. */
  failure(comment: string): Refused {
    const done = this.comments.length > 0 ? `\n\nChanges already made: ${sentences(this.comments)}` : "";
    const { changes, warnings } = this;
    return new Refused(comment + done, { changes, ...warnings.length > 0 && { warnings } });
  }

  /** The result of test mode where something would be done. */
  would(comment: string): StateResult {
    return this.result(comment, null);
  }

  /** The result where a repository is as wanted; `actions`: what is or would be done anyway. */
  upToDate(target: string, actions: readonly string[], localChanges = false): StateResult {
    const uncommitted = localChanges
      ? ", but with uncommitted changes. Set 'force_reset' to True to purge uncommitted changes."
      : "";
    const also = actions.length > 0
      ? `\n\nChanges ${this.test ? "that would be " : ""}made: ${sentences(actions)}`
      : "";
    return this.result(`Repository ${target} is up-to-date${uncommitted}${also}`);
  }
}

/** What `run` returns; an error of git is a failure of the state. */
export async function orFailure(report: Report, run: () => Promise<StateResult>): Promise<StateResult> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof CommandError) throw report.failure(gitReasonOf(error));
    if (error instanceof InvocationError) throw report.failure(error.message);
    throw error;
  }
}

/**
 * Paths of keys, as git's functions take them.
 * @throws {Refused} If they cannot be.
 */
export function identitiesOf(identity: Value, word: string): Value {
  if (identity === null) return null;
  const identities = typeof identity === "string" ? [identity] : identity;
  if (!Array.isArray(identities)) throw new Refused(`${word} must be either a list or a string`);
  const paths = identities.map((one) => expandUser(str(one)));
  for (const path of paths) {
    if (!path.includes("salt://") && !path.startsWith("/")) {
      throw new Refused(`${word} '${path}' is not an absolute path`);
    }
  }
  return paths;
}

/**
 * Empties the directory that is to be cloned into, with `force_clone`.
 * @throws {Refused} If it is not empty and may not be emptied, and in test mode.
 */
export function clearTarget(
  report: Report,
  { target, name, force, quiet = false }: {
    readonly target: string;
    readonly name: string;
    readonly force: boolean;
    /** Whether test mode reports no changes. */
    readonly quiet?: boolean;
  },
): void {
  if (!isDirectory(target)) return;
  const contents = [...Deno.readDirSync(target)].map((entry) => `${target.replace(/\/$/, "")}/${entry.name}`);
  if (force) {
    if (report.test) {
      if (!quiet) report.changes.set("forced clone", true).set("new", `${name} => ${target}`);
      throw new Refused(
        `Target directory ${target} exists. Since force_clone=True, the contents of ${target} would be deleted, and ${name} would be cloned ` +
          "into this directory.",
        { result: null, changes: report.changes },
      );
    }
    const errors = contents.flatMap((path) => {
      try {
        removeAny(path);
        return [];
      } catch (error) {
        return [`  ${path}\n    ${pythonOsError(error, path)}`];
      }
    });
    if (errors.length > 0) throw report.failure(`Unable to remove\n${errors.join("\n")}`);
    report.changes.set("forced clone", true);
  } else if (contents.length > 0) {
    throw report.failure(
      `Target '${target}' exists, is non-empty and is not a git repository. Set the 'force_clone' option to True to remove this ` +
        "directory's contents and proceed with cloning the remote repository",
    );
  }
}
