/**
 * The functions of the module `cp` for the minion's cache: files that are fetched into it, and what it holds.
 * Source: the functions and results of Salt 3008.3 `salt/modules/cp.py`.
 * @module
 */

import { cacheFile, environment, findCachePlace, SALTENV, SALTENV_DOC, URL_DOC } from "./fetching.ts";
import { FILE_CLIENT, fileClientOf } from "#lib/files/client/open.ts";
import { cachedCopy, cacheDestination } from "#lib/files/client/cache_paths.ts";
import { cachedFiles, cacheLocalFile } from "#lib/files/client/local_cache.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { describe } from "#lib/plugins/docs.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, type Value } from "#lib/values/value.ts";

/** Patterns of a list, or one. */
function patterns(given: Value): string | string[] | undefined {
  if (given === null) return undefined;
  return Array.isArray(given) ? given.map(str) : str(given);
}

const CACHE_FILE = {
  path: p.str(),
  ...SALTENV,
  source_hash: p.str(null),
  verify_ssl: p.bool(true),
  use_etag: p.bool(false),
};

const CACHE_FILE_DOC =
  `Fetch a file into the cache, unless the copy there is the same, and return the copy's path; False if there is no such file.

path
    ${URL_DOC}

${SALTENV_DOC}

source_hash
    A digest: a copy in the cache that has it is not fetched again. For http and https.

verify_ssl
    Whether the certificate of an https server is checked.

use_etag
    Whether the copy is kept while the server's ETag is the same.`;

export const cache_file: ModuleFunction<JobContext> = fn({
  doc: describe(CACHE_FILE_DOC, "cp.cache_file salt://path/to/file"),
  permissions: FILE_CLIENT,
  params: CACHE_FILE,
  run: async ({ path, saltenv, ...options }, context) => await cacheFile(path, saltenv, options, context) ?? false,
});

export const cache_file_ssh: ModuleFunction<JobContext> = fn({
  doc: describe(`Another name of cp.cache_file.\n\n${CACHE_FILE_DOC}`, "cp.cache_file_ssh salt://path/to/file"),
  permissions: FILE_CLIENT,
  params: CACHE_FILE,
  run: async ({ path, saltenv, ...options }, context) => await cacheFile(path, saltenv, options, context) ?? false,
});

export const cache_files: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Fetch several files into the cache, and return the copies' paths; False for missing ones.

paths
    A list of URLs, or text with commas.

${SALTENV_DOC}`,
    "cp.cache_files salt://pathto/file1,salt://pathto/file2",
  ),
  permissions: FILE_CLIENT,
  params: { paths: p.list(), ...SALTENV },
  async run({ paths, saltenv }, context) {
    const copies: Value[] = [];
    const client = fileClientOf(context), env = environment(saltenv, context);
    for (const path of paths) copies.push(await client.cacheFile(str(path), env) ?? false);
    return copies;
  },
});

export const cache_dir: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Fetch all files below a directory of the file server into the cache, and return the copies' paths.

${SALTENV_DOC}

include_empty
    Whether empty directories are made.

include_pat, exclude_pat
    The files to take, and the files to leave out: globs, or regular expressions behind E@; one or a list.`,
    "cp.cache_dir salt://path/to/dir",
    "cp.cache_dir salt://path/to/dir include_pat='E@*.py$'",
  ),
  permissions: FILE_CLIENT,
  params: {
    path: p.str(),
    ...SALTENV,
    include_empty: p.bool(false),
    include_pat: p.any(null),
    exclude_pat: p.any(null),
  },
  run: ({ path, saltenv, include_empty, include_pat, exclude_pat }, context) =>
    fileClientOf(context).cacheDir(path, environment(saltenv, context), {
      includeEmpty: include_empty,
      includePat: patterns(include_pat),
      excludePat: patterns(exclude_pat),
    }),
});

export const cache_master: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Fetch all files of an environment into the cache, and return the copies' paths.\n\n${SALTENV_DOC}`,
    "cp.cache_master",
  ),
  permissions: FILE_CLIENT,
  params: SALTENV,
  run: async ({ saltenv }, context) =>
    (await fileClientOf(context).cacheAll(environment(saltenv, context))).map((copy) => copy ?? false),
});

export const cache_local_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Copy a file of this host into the cache, unless the same file is there already, and return the copy's path; empty text if there is no such file.",
    "cp.cache_local_file /etc/hosts",
  ),
  permissions: FILE_CLIENT,
  params: { path: p.str() },
  run: ({ path }, context) => cacheLocalFile(path, findCachePlace(null, context)),
});

export const cache_dest: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the path in the cache that cp.cache_file would give a file, whether it is there or not.\n\n${SALTENV_DOC}`,
    "cp.cache_dest salt://my/file",
  ),
  params: { url: p.str(), ...SALTENV },
  run: ({ url, saltenv }, context) => cacheDestination(url, findCachePlace(saltenv, context)),
});

export const is_cached: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the path of a file's copy in the cache; empty text if there is none.\n\n${SALTENV_DOC}`,
    "cp.is_cached salt://path/to/file",
  ),
  permissions: { read: ["{cachedir}"] },
  params: { path: p.str(), ...SALTENV },
  run: ({ path, saltenv }, context) => cachedCopy(path, findCachePlace(saltenv, context)),
});

export const list_minion: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the copies in the cache: of an environment's files, and of this host's own.\n\n${SALTENV_DOC}`,
    "cp.list_minion",
  ),
  permissions: { read: ["{cachedir}"] },
  params: SALTENV,
  run: ({ saltenv }, context) => cachedFiles(findCachePlace(saltenv, context)),
});
