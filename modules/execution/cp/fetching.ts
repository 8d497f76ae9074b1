/**
 * Shared parts of the module `cp`: arguments with their texts, the default environment, and fetching into the minion's
 * cache. Source: the functions of Salt 3008.3 `salt/modules/cp.py`.
 * @module
 */

import type { CachePlace } from "#lib/files/client/cache_paths.ts";
import { fetchedByJob, fileClientOf } from "#lib/files/client/open.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";

/** The environment, or the default one. */
export function environment(saltenv: string | null, { opts }: JobContext): string {
  return saltenv || opts.saltenv || "base";
}

/** The place of this environment in the cache directory. */
export function findCachePlace(saltenv: string | null, context: JobContext): CachePlace {
  return { cachedir: context.opts.cachedir, saltenv: environment(saltenv, context) };
}

export const SALTENV = { saltenv: p.str(null) };

export const URL_DOC =
  `A path on the file server (salt://a/b, salt://a/b?saltenv=dev), http://, https://, file://, or a path of this host.`;

export const SALTENV_DOC = "saltenv\n    Environment of the file server. Default: the option saltenv, or base.";

interface CacheArguments {
  readonly source_hash?: string | null;
  readonly verify_ssl?: boolean;
  readonly use_etag?: boolean;
}

/** The path of the copy of a file; a failure is logged. */
export async function cacheFile(
  path: string,
  saltenv: string | null,
  { source_hash, verify_ssl, use_etag }: CacheArguments,
  context: JobContext,
): Promise<string | undefined> {
  const env = environment(saltenv, context);
  const [fetched, key] = [fetchedByJob(context), `${env}\0${path}`];
  const earlier = fetched.get(key);
  if (earlier !== undefined && isFile(earlier)) return earlier;
  const copy = await fileClientOf(context).cacheFile(path, env, {
    sourceHash: source_hash ?? undefined,
    verifySsl: verify_ssl,
    useEtag: use_etag,
  });
  if (copy === undefined) {
    context.log("error", `Unable to cache file '${hideCredentials(path)}' from saltenv '${env}'.`);
  } else if (/^https?:/i.test(path)) fetched.set(key, copy);
  return copy;
}
