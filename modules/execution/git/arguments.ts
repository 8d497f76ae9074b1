/**
 * Shared parts of the module `git`: arguments, and running git. Source: the functions of Salt 3008.3
 * `salt/modules/git.py`.
 * @module
 */

import { gitOptionWords } from "#lib/host/git/options.ts";
import { gitOutput, type GitRun, userPath } from "#lib/host/git/run_git.ts";
import { type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Parameters } from "#lib/plugins/module.ts";
import { type Value, type ValueMap } from "#lib/values/value.ts";

export const WHO = { user: p.str(null), password: p.str(null) };
export const ENCODING = { output_encoding: p.str(null) };
export const RETCODE = { ignore_retcode: p.bool(false) };
export const RUN = { ...WHO, ...RETCODE, ...ENCODING };
export const OPTIONS = { opts: p.any(""), git_opts: p.any("") };
export const IDENTITY = { identity: p.any(null) };
export const HTTPS = { https_user: p.str(null), https_pass: p.str(null) };
export const SALTENV = { saltenv: p.str("base") };

/** Arguments that most functions have. */
export interface Common {
  readonly cwd: string;
  readonly user: string | null;
  readonly ignore_retcode?: boolean;
  readonly output_encoding: string | null;
  readonly identity?: Value;
  readonly saltenv?: string;
}

/** How git is run for these arguments. Functions with `identity` are those that may ask other repositories. */
export function runOf(bound: Common, more: Partial<GitRun> = {}): GitRun {
  const { user, ignore_retcode, output_encoding, identity, saltenv } = bound;
  const remote = identity !== undefined;
  return { cwd: userPath(bound.cwd, user), user, ignore_retcode, output_encoding, identity, saltenv, remote, ...more };
}

/** `git <options> command <options>`. */
export function words(
  bound: { readonly opts: Value; readonly git_opts: Value },
  ...command: readonly string[]
): string[] {
  return [...gitOptionWords(bound.git_opts), ...command, ...gitOptionWords(bound.opts)];
}

/** A function that returns what one command prints. */
export function printing<P extends Parameters>(
  doc: string,
  params: P,
  make: (bound: Common & Readonly<Record<string, Value>>, kwargs: ValueMap) => readonly string[],
  more: Partial<GitRun> & { readonly varKwargs?: string } = {},
): ModuleFunction<JobContext> {
  const { varKwargs, ...run } = more;
  return {
    doc,
    permissions: "all",
    params,
    ...varKwargs !== undefined && { varKwargs },
    run: (bound, context, { kwargs }) => {
      const given = bound as Common & Readonly<Record<string, Value>>;
      return gitOutput(make(given, kwargs), runOf(given, run), context);
    },
  };
}

/** The options of `bound`, as {@linkcode words} wants them. */
export function gitOptions(bound: Readonly<Record<string, Value>>): { readonly opts: Value; readonly git_opts: Value } {
  return { opts: bound.opts ?? "", git_opts: bound.git_opts ?? "" };
}
