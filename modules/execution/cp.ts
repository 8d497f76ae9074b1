/**
 * Execution module `cp`: fetches files from the file server and other URLs, lists what there is, sends files to the master, and takes those that
 * `salt-cp` sends.
 * Source: the functions and results of Salt 3008.3 `salt/modules/cp.py`.
 * @module
 */

import { fetchedByJob, FILE_CLIENT, FILE_CLIENT_ANYWHERE, fileClientOf } from "../../lib/fileclient/open.ts";
import { cachedCopy, cacheDestination, type CachePlace, externalPath } from "../../lib/fileclient/cache_paths.ts";
import { cachedFiles, cacheLocalFile } from "../../lib/fileclient/local_cache.ts";
import { directoryOnHost } from "../../lib/fileclient/directories.ts";
import { placeOnHost } from "../../lib/fileclient/placing.ts";
import { dirName } from "../../lib/filesystem/paths.ts";
import { pushDirectory, pushFile, type PushHost } from "../../lib/fileclient/pushing.ts";
import { withoutPassword } from "../../lib/fileclient/downloads.ts";
import { messageOf } from "../../lib/errors.ts";
import { isDirectory, isFile } from "../../lib/os/file_kind.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { any, bool, dict, int, list, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import { gunzip } from "../../lib/values/gzip.ts";
import { map, str as text, type Value, type ValueMap } from "../../lib/values/value.ts";

/** What Salt answers where no file can be put. */
const UNAVAILABLE = "Destination unavailable";

export const recv: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Write small files that salt-cp sends, and say of each whether that went well.

files
    What each file holds, by the path that it had.

dest
    Where it is to be: a file, or a directory that is there.`,
    "cp.recv",
  ),
  permissions: { read: true, write: true },
  params: { files: dict(), dest: str() },
  async run({ files, dest }) {
    const written = new Map<Value, Value>();
    for (const [path, data] of files) {
      const final = destination(text(path), dest);
      if (final === undefined) return UNAVAILABLE;
      try {
        await Deno.writeFile(final, data instanceof Uint8Array ? data : new TextEncoder().encode(text(data)));
        written.set(final, true);
      } catch {
        written.set(final, false);
      }
    }
    return written;
  },
});

export const recv_chunked: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Write a piece of a file that salt-cp sends; directories that are missing are made. The result is True, or what went wrong.

dest
    Path of the file, or of a directory without files in it.

chunk
    The piece in base64; None makes the directory \`dest\`.

append
    Whether it goes behind what is there.

compressed
    Whether the piece is gzipped.

mode
    Permission bits that a new file gets.`,
    "cp.recv_chunked",
  ),
  permissions: { read: true, write: true },
  params: { dest: str(), chunk: any(), append: bool(false), compressed: bool(true), mode: int(null) },
  async run({ dest, chunk, append, compressed, mode }, context) {
    try {
      if (chunk === null) return await makeDirectory(dest);
      const bytes = Uint8Array.fromBase64(chunk instanceof Uint8Array ? new TextDecoder().decode(chunk) : text(chunk));
      const piece = compressed ? await gunzip(bytes) : bytes;
      using file = await openIn(dest, append);
      for (let at = 0; at < piece.length;) at += await file.write(piece.subarray(at));
      if (!append && mode !== null) await Deno.chmod(dest, mode);
      return true;
    } catch (error) {
      context.setRetcode(1);
      return messageOf(error);
    }
  },
});

/** Where the file that was at `path` goes; `undefined` if there is no place for it. */
function destination(path: string, dest: string): string | undefined {
  const directory = isDirectory(dest);
  if (baseName(path) === baseName(dest) && !directory) return dest;
  if (directory) return `${dest.replace(/\/+$/, "")}/${baseName(path)}`;
  return isDirectory(dest.slice(0, dest.lastIndexOf("/")) || "/") ? dest : undefined;
}

async function makeDirectory(path: string): Promise<Value> {
  try {
    await Deno.mkdir(path, { recursive: true });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return "Path exists and is a file";
    throw error;
  }
}

async function openIn(path: string, append: boolean): Promise<Deno.FsFile> {
  const options = { write: true, create: true, append, truncate: !append };
  try {
    return await Deno.open(path, options);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    return await Deno.open(path, options);
  }
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The environment that is meant where none is named. */
function environment(saltenv: string | null, { opts }: JobContext): string {
  return saltenv || opts.saltenv || "base";
}

function placeOf(saltenv: string | null, context: JobContext): CachePlace {
  return { cachedir: context.opts.cachedir, saltenv: environment(saltenv, context) };
}

/** Patterns of a list, or one. */
function patterns(given: Value): string | string[] | undefined {
  if (given === null) return undefined;
  return Array.isArray(given) ? given.map(text) : text(given);
}

const SALTENV = { saltenv: str(null) };
const URL_DOC =
  `A path on the file server (salt://a/b, salt://a/b?saltenv=dev), http://, https://, file://, or a path of this host.`;
const SALTENV_DOC = "saltenv\n    Environment of the file server. Default: the option saltenv, or base.";

export const get_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Put a file of the file server to a path of this host, and return that path: empty text if there is no such file, False if the directory is
missing.

path
    salt://a/b, or salt://a/b?saltenv=dev.

dest
    A path, or a directory.

${SALTENV_DOC}

makedirs
    Whether missing directories are made.

template
    Render both paths by this engine first.

gzip
    1 to 9: have the pieces sent compressed.`,
    "cp.get_file salt://path/to/file /minion/dest",
  ),
  // A template of the paths may call any function.
  permissions: "all",
  params: { path: str(), dest: str(), ...SALTENV, makedirs: bool(false), template: str(null), gzip: int(null) },
  varKwargs: "kwargs",
  async run({ saltenv, makedirs, gzip, ...given }, context, { kwargs }) {
    const client = fileClientOf(context), env = environment(saltenv, context);
    const [path, dest] = await namesOf(given, { saltenv: env, kwargs }, context);
    if (await client.hashFile(path, env) === undefined) return "";
    return await client.getFile(path, dest, env, { makedirs, gzip: gzip ?? undefined }) ?? false;
  },
});

export const get_dir: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Copy a directory of the file server, with all that is in it, into a directory of this host, and return the paths.

${SALTENV_DOC}

template
    Render both paths by this engine first.

gzip
    1 to 9: have the pieces sent compressed.`,
    "cp.get_dir salt://path/to/dir/ /minion/dest",
  ),
  // A template of the paths may call any function.
  permissions: "all",
  params: { path: str(), dest: str(), ...SALTENV, template: str(null), gzip: int(null) },
  varKwargs: "kwargs",
  async run({ saltenv, gzip, ...given }, context, { kwargs }) {
    const env = environment(saltenv, context);
    const [path, dest] = await namesOf(given, { saltenv: env, kwargs }, context);
    return await fileClientOf(context).getDir(path, dest, env, { gzip: gzip ?? undefined });
  },
});

export const get_template: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Render a file as a template, put the result to a path of this host, and return that path; empty text if there is no such file or engine, or
the directory is missing. Keywords are variables of the template, and so is what is in \`context\`.

path
    ${URL_DOC}

dest
    A path. Empty text: a path in the cache.

template
    The engine: jinja.

${SALTENV_DOC}

makedirs
    Whether missing directories are made.`,
    "cp.get_template salt://path/to/template /minion/dest",
  ),
  // A template may call any function.
  permissions: "all",
  params: { path: str(), dest: str(), template: str("jinja"), ...SALTENV, makedirs: bool(false) },
  varKwargs: "kwargs",
  async run({ path, dest, template, saltenv, makedirs }, context, { kwargs }) {
    const env = environment(saltenv, context);
    const source = await fileClientOf(context).cacheFile(path, env);
    if (source === undefined || !isFile(source)) return "";
    const { isEngine, renderFile, variablesOf } = await import("./_templates.ts");
    if (!isEngine(template)) {
      context.log("error", `Attempted to render template with unavailable engine ${template}`);
      return "";
    }
    const rendered = await renderFile(
      source,
      { engine: template, saltenv: env, variables: variablesOf(kwargs) },
      context,
    );
    const into = dest === "" ? externalPath(path, placeOf(env, context)) : dest;
    if (!directoryOnHost(dirName(into), makedirs || dest === "")) {
      await Deno.remove(rendered);
      return "";
    }
    placeOnHost(rendered, into, { mode: 0o600 });
    return into;
  },
});

/** The two paths of a function, rendered if it is given an engine. */
async function namesOf(
  { path, dest, template }: { readonly path: string; readonly dest: string; readonly template: string | null },
  { saltenv, kwargs }: { readonly saltenv: string; readonly kwargs: ValueMap },
  context: JobContext,
): Promise<string[]> {
  if (!template) return [path, dest];
  const { renderNames, variablesOf } = await import("./_templates.ts");
  return await renderNames([path, dest], { engine: template, saltenv, variables: variablesOf(kwargs) }, context);
}

export const get_url: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Fetch a file from a URL, and return its path; False if the file server has none, empty text if the directory is missing.

path
    ${URL_DOC}

dest
    A path, or a directory. Without: a path in the cache. None: the contents are returned.

${SALTENV_DOC}

makedirs
    Whether missing directories are made.

source_hash
    A digest: a copy in the cache that has it is not fetched again. For http and https.`,
    "cp.get_url salt://my/file /tmp/this_file_is_mine",
    "cp.get_url https://example.org/index.html /tmp/index.html",
  ),
  permissions: FILE_CLIENT_ANYWHERE,
  params: { path: str(), dest: any(""), ...SALTENV, makedirs: bool(false), source_hash: str(null) },
  async run({ path, dest, saltenv, makedirs, source_hash }, context) {
    const client = fileClientOf(context), env = environment(saltenv, context);
    const sourceHash = source_hash ?? undefined;
    const result = typeof dest === "string"
      ? await client.getUrl(path, dest, env, { makedirs, sourceHash })
      : textIfUtf8(await client.contents(path, env, { sourceHash }));
    if (result !== undefined) return result;
    context.log("error", `Unable to fetch file ${withoutPassword(path)} from saltenv ${env}.`);
    return path.startsWith("salt://") ? false : "";
  },
});

/** Text of bytes that are one. */
function textIfUtf8(contents: Uint8Array | string | undefined): Value | undefined {
  if (!(contents instanceof Uint8Array)) return contents;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(contents);
  } catch {
    return contents;
  }
}

export const get_file_str: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Fetch a file into the cache, and return its text; False if there is none.

path
    ${URL_DOC}

${SALTENV_DOC}`,
    "cp.get_file_str salt://my/file",
  ),
  permissions: FILE_CLIENT,
  params: { path: str(), ...SALTENV },
  async run({ path, saltenv }, context) {
    const copy = await cached(path, saltenv, {}, context);
    return copy === undefined || !isFile(copy) ? false : textIfUtf8(await Deno.readFile(copy));
  },
});

const CACHE_FILE = {
  path: str(),
  ...SALTENV,
  source_hash: str(null),
  verify_ssl: bool(true),
  use_etag: bool(false),
};

interface CacheArguments {
  readonly source_hash?: string | null;
  readonly verify_ssl?: boolean;
  readonly use_etag?: boolean;
}

/** The path of the copy of a file; a failure is logged. */
async function cached(
  path: string,
  saltenv: string | null,
  { source_hash, verify_ssl, use_etag }: CacheArguments,
  context: JobContext,
): Promise<string | undefined> {
  const env = environment(saltenv, context);
  const [fetched, asked] = [fetchedByJob(context), `${env}\0${path}`];
  const known = fetched.get(asked);
  if (known !== undefined && isFile(known)) return known;
  const copy = await fileClientOf(context).cacheFile(path, env, {
    sourceHash: source_hash ?? undefined,
    verifySsl: verify_ssl,
    useEtag: use_etag,
  });
  if (copy === undefined) {
    context.log("error", `Unable to cache file '${withoutPassword(path)}' from saltenv '${env}'.`);
  } else if (/^https?:/i.test(path)) fetched.set(asked, copy);
  return copy;
}

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
  run: async ({ path, saltenv, ...options }, context) => await cached(path, saltenv, options, context) ?? false,
});

export const cache_file_ssh: ModuleFunction<JobContext> = fn({
  doc: describe(`Another name of cp.cache_file.\n\n${CACHE_FILE_DOC}`, "cp.cache_file_ssh salt://path/to/file"),
  permissions: FILE_CLIENT,
  params: CACHE_FILE,
  run: async ({ path, saltenv, ...options }, context) => await cached(path, saltenv, options, context) ?? false,
});

export const cache_files: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Fetch several files into the cache, and return the copies' paths; False for those that are not there.

paths
    A list of URLs, or text with commas.

${SALTENV_DOC}`,
    "cp.cache_files salt://pathto/file1,salt://pathto/file2",
  ),
  permissions: FILE_CLIENT,
  params: { paths: list(), ...SALTENV },
  async run({ paths, saltenv }, context) {
    const copies: Value[] = [];
    const client = fileClientOf(context), env = environment(saltenv, context);
    for (const path of paths) copies.push(await client.cacheFile(text(path), env) ?? false);
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
    Files to take, and of these files to leave out: globs, or regular expressions behind E@; one or a list.`,
    "cp.cache_dir salt://path/to/dir",
    "cp.cache_dir salt://path/to/dir include_pat='E@*.py$'",
  ),
  permissions: FILE_CLIENT,
  params: { path: str(), ...SALTENV, include_empty: bool(false), include_pat: any(null), exclude_pat: any(null) },
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
    "Copy a file of this host into the cache, unless there is the same already, and return the copy's path; empty text if there is no such file.",
    "cp.cache_local_file /etc/hosts",
  ),
  permissions: FILE_CLIENT,
  params: { path: str() },
  run: ({ path }, context) => cacheLocalFile(path, placeOf(null, context)),
});

export const cache_dest: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the path in the cache that cp.cache_file would give a file, whether it is there or not.\n\n${SALTENV_DOC}`,
    "cp.cache_dest salt://my/file",
  ),
  params: { url: str(), ...SALTENV },
  run: ({ url, saltenv }, context) => cacheDestination(url, placeOf(saltenv, context)),
});

export const is_cached: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the path of a file's copy in the cache; empty text if there is none.\n\n${SALTENV_DOC}`,
    "cp.is_cached salt://path/to/file",
  ),
  permissions: { read: ["{cachedir}"] },
  params: { path: str(), ...SALTENV },
  run: ({ path, saltenv }, context) => cachedCopy(path, placeOf(saltenv, context)),
});

export const list_minion: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the copies in the cache: of an environment's files, and of this host's own.\n\n${SALTENV_DOC}`,
    "cp.list_minion",
  ),
  permissions: { read: ["{cachedir}"] },
  params: SALTENV,
  run: ({ saltenv }, context) => cachedFiles(placeOf(saltenv, context)),
});

const LIST = { ...SALTENV, prefix: str("") };
const LIST_DOC = `${SALTENV_DOC}\n\nprefix\n    Only what lies below this directory.`;

export const list_master: ModuleFunction<JobContext> = fn({
  doc: describe(`Return the files of the file server: a list of paths.\n\n${LIST_DOC}`, "cp.list_master"),
  permissions: FILE_CLIENT,
  params: LIST,
  run: ({ saltenv, prefix }, context) => fileClientOf(context).fileList(environment(saltenv, context), prefix),
});

export const list_master_dirs: ModuleFunction<JobContext> = fn({
  doc: describe(`Return the directories of the file server: a list of paths.\n\n${LIST_DOC}`, "cp.list_master_dirs"),
  permissions: FILE_CLIENT,
  params: LIST,
  run: ({ saltenv, prefix }, context) => fileClientOf(context).dirList(environment(saltenv, context), prefix),
});

export const list_master_symlinks: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the links on the file server: a map of paths and of what they lead to.\n\n${LIST_DOC}`,
    "cp.list_master_symlinks",
  ),
  permissions: FILE_CLIENT,
  params: LIST,
  run: ({ saltenv, prefix }, context) => fileClientOf(context).symlinkList(environment(saltenv, context), prefix),
});

export const list_states: ModuleFunction<JobContext> = fn({
  doc: describe(`Return the names of all SLS of an environment, sorted.\n\n${SALTENV_DOC}`, "cp.list_states"),
  permissions: FILE_CLIENT,
  params: SALTENV,
  run: ({ saltenv }, context) => fileClientOf(context).listStates(environment(saltenv, context)),
});

export const envs: ModuleFunction<JobContext> = fn({
  doc: describe("Return the environments of the file server.", "cp.envs"),
  permissions: FILE_CLIENT,
  params: {},
  run: (_bound, context) => fileClientOf(context).envs(),
});

const HASH_FILE = { path: str(), ...SALTENV };
const HASH_FILE_DOC =
  `Return a file's digest, a map of hsum and hash_type: of a file of the file server behind salt://, else of this host. Empty text: the file server
has no such file.

${SALTENV_DOC}`;

async function hashOf(path: string, saltenv: string | null, context: JobContext): Promise<Value> {
  const hash = await fileClientOf(context).hashFile(path, environment(saltenv, context));
  const remote = path.startsWith("salt://");
  if (hash === undefined) return remote ? "" : [new Map(), null];
  const { hashType: hash_type, hsum } = hash;
  return remote ? map({ hash_type, hsum }) : map({ hsum, hash_type });
}

export const hash_file: ModuleFunction<JobContext> = fn({
  doc: describe(HASH_FILE_DOC, "cp.hash_file salt://path/to/file"),
  permissions: FILE_CLIENT,
  params: HASH_FILE,
  run: ({ path, saltenv }, context) => hashOf(path, saltenv, context),
});

export const hash_file_ssh: ModuleFunction<JobContext> = fn({
  doc: describe(`Another name of cp.hash_file.\n\n${HASH_FILE_DOC}`, "cp.hash_file_ssh salt://path/to/file"),
  permissions: FILE_CLIENT,
  params: HASH_FILE,
  run: ({ path, saltenv }, context) => hashOf(path, saltenv, context),
});

export const stat_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the permission bits of a file, of the file server behind salt://, else of this host; None if there is none.

${SALTENV_DOC}

octal
    Whether they are four octal digits (0644), not the number with the bits of the file's type.`,
    "cp.stat_file salt://path/to/file",
  ),
  permissions: FILE_CLIENT,
  params: { path: str(), ...SALTENV, octal: bool(true) },
  async run({ path, saltenv, octal }, context) {
    const { mode } = await fileClientOf(context).statFile(path, environment(saltenv, context));
    if (mode === undefined) return null;
    return octal ? mode.toString(8).slice(-4) : mode;
  },
});

function pushHost({ opts, outside, log }: JobContext): PushHost {
  return {
    id: opts.id ?? "",
    pieceBytes: opts.file_buffer_size,
    request: (load) => outside.request(load),
    log: (level, message) => log(level, message),
  };
}

export const push: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Send a file to the master, which keeps it below minions/<id>/files in its cache directory, and return whether it did. Needs the master's option
file_recv. Everybody who may read there sees the file.

path
    An absolute path.

keep_symlinks
    Whether a link's own path counts and not what it leads to.

upload_path
    Another path for the file on the master.

remove_source
    Whether the file is removed here afterwards.`,
    "cp.push /etc/fstab",
    "cp.push /etc/fstab upload_path='/new/path/fstab'",
  ),
  permissions: { read: true, write: true },
  params: { path: str(), keep_symlinks: bool(false), upload_path: str(null), remove_source: bool(false) },
  run: ({ path, keep_symlinks: keepSymlinks, upload_path, remove_source: removeSource }, context) =>
    pushFile(path, { keepSymlinks, uploadPath: upload_path ?? undefined, removeSource }, pushHost(context)),
});

export const push_dir: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Send all files below a directory to the master, as cp.push does, and return whether it has them all.

glob
    Only files whose names match.

upload_path
    Another path for the directory on the master.`,
    "cp.push_dir /etc/modprobe.d/ glob='*.conf'",
  ),
  permissions: { read: true },
  params: { path: str(), glob: str(null), upload_path: str(null) },
  run: ({ path, glob, upload_path }, context) =>
    pushDirectory(path, { glob: glob ?? undefined, uploadPath: upload_path ?? undefined }, pushHost(context)),
});
