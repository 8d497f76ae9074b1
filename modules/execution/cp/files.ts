/**
 * Execution module `cp`: fetches files from the file server and other URLs, and lists the files of the file server. Its
 * other functions are in `caching.ts` and `sending.ts`. Source: the functions and results of Salt 3008.3
 * `salt/modules/cp.py`.
 * @module
 */

import { cacheFile, environment, findCachePlace, SALTENV, SALTENV_DOC, URL_DOC } from "./fetching.ts";
import { FILE_CLIENT, FILE_CLIENT_ANYWHERE, fileClientOf } from "#lib/files/client/open.ts";
import { externalPath } from "#lib/files/client/cache_paths.ts";
import { directoryOnHost } from "#lib/files/client/directories.ts";
import { placeOnHost } from "#lib/files/client/placing.ts";
import { dirName } from "#lib/os/paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { describe } from "#lib/plugins/docs.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

export const get_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Copy a file from the file server to a path of this host, and return that path: empty text if there is no such file, False if the directory is
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
    1 to 9: request compressed chunks.`,
    "cp.get_file salt://path/to/file /minion/dest",
  ),
  // A template of the paths may call any function.
  permissions: "all",
  params: {
    path: p.str(),
    dest: p.str(),
    ...SALTENV,
    makedirs: p.bool(false),
    template: p.str(null),
    gzip: p.int(null),
  },
  varKwargs: "kwargs",
  watchedKeywords: [],
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
    1 to 9: request compressed chunks.`,
    "cp.get_dir salt://path/to/dir/ /minion/dest",
  ),
  // A template of the paths may call any function.
  permissions: "all",
  params: { path: p.str(), dest: p.str(), ...SALTENV, template: p.str(null), gzip: p.int(null) },
  varKwargs: "kwargs",
  watchedKeywords: [],
  async run({ saltenv, gzip, ...given }, context, { kwargs }) {
    const env = environment(saltenv, context);
    const [path, dest] = await namesOf(given, { saltenv: env, kwargs }, context);
    return await fileClientOf(context).getDir(path, dest, env, { gzip: gzip ?? undefined });
  },
});

export const get_template: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Render a file as a template, write the result to a path of this host, and return that path; empty text if there is no such file or engine, or
the directory is missing. Keywords and the entries of \`context\` are variables of the template.

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
  params: { path: p.str(), dest: p.str(), template: p.str("jinja"), ...SALTENV, makedirs: p.bool(false) },
  varKwargs: "kwargs",
  async run({ path, dest, template, saltenv, makedirs }, context, { kwargs }) {
    const env = environment(saltenv, context);
    const source = await fileClientOf(context).cacheFile(path, env);
    if (source === undefined || !isFile(source)) return "";
    const { isEngine, renderFile, variablesOf } = await import("#modules/execution/_templates.ts");
    if (!isEngine(template)) {
      context.log("error", `Attempted to render template with unavailable engine ${template}`);
      return "";
    }
    const rendered = await renderFile(
      source,
      { engine: template, saltenv: env, variables: variablesOf(kwargs, template) },
      context,
    );
    const into = dest === "" ? externalPath(path, findCachePlace(env, context)) : dest;
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
  const { renderNames, variablesOf } = await import("#modules/execution/_templates.ts");
  return await renderNames(
    [path, dest],
    { engine: template, saltenv, variables: variablesOf(kwargs, template) },
    context,
  );
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
  params: { path: p.str(), dest: p.any(""), ...SALTENV, makedirs: p.bool(false), source_hash: p.str(null) },
  async run({ path, dest, saltenv, makedirs, source_hash }, context) {
    const client = fileClientOf(context), env = environment(saltenv, context);
    const sourceHash = source_hash ?? undefined;
    const result = typeof dest === "string"
      ? await client.getUrl(path, dest, env, { makedirs, sourceHash })
      : textIfUtf8(await client.contents(path, env, { sourceHash }));
    if (result !== undefined) return result;
    context.log("error", `Unable to fetch file ${hideCredentials(path)} from saltenv ${env}.`);
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
  params: { path: p.str(), ...SALTENV },
  async run({ path, saltenv }, context) {
    const copy = await cacheFile(path, saltenv, {}, context);
    return copy === undefined || !isFile(copy) ? false : textIfUtf8(await Deno.readFile(copy));
  },
});

const LIST = { ...SALTENV, prefix: p.str("") };

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
    `Return the links on the file server: a map from path to target.\n\n${LIST_DOC}`,
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

const HASH_FILE = { path: p.str(), ...SALTENV };

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
    `Return the mode of a file, on the file server for salt://, else on this host; None if there is no such file.

${SALTENV_DOC}

octal
    Whether the result is four octal digits (0644) and not the number with the file type's bits.`,
    "cp.stat_file salt://path/to/file",
  ),
  permissions: FILE_CLIENT,
  params: { path: p.str(), ...SALTENV, octal: p.bool(true) },
  async run({ path, saltenv, octal }, context) {
    const { mode } = await fileClientOf(context).statFile(path, environment(saltenv, context));
    if (mode === undefined) return null;
    return octal ? mode.toString(8).slice(-4) : mode;
  },
});
