/**
 * What the functions of the module `cp` have in common: arguments with their texts, and the environment that they mean.
 * Source: the functions of Salt 3008.3 `salt/modules/cp.py`.
 * @module
 */

import type { CachePlace } from "../../lib/fileclient/cache_paths.ts";
import type { JobContext } from "../../lib/plugins/job_context.ts";
import { str } from "../../lib/plugins/module.ts";

/** The environment that is meant where none is named. */
export function environment(saltenv: string | null, { opts }: JobContext): string {
  return saltenv || opts.saltenv || "base";
}

/** Where what is fetched for this environment lies in the cache directory. */
export function placeOf(saltenv: string | null, context: JobContext): CachePlace {
  return { cachedir: context.opts.cachedir, saltenv: environment(saltenv, context) };
}

export const SALTENV = { saltenv: str(null) };

export const URL_DOC =
  `A path on the file server (salt://a/b, salt://a/b?saltenv=dev), http://, https://, file://, or a path of this host.`;

export const SALTENV_DOC = "saltenv\n    Environment of the file server. Default: the option saltenv, or base.";
