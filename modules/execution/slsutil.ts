/**
 * Execution module `slsutil`: what state files and templates use.
 * Source: the functions of Salt 3008.3 `salt/modules/slsutil.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { FILE_CLIENT, fileClientOf } from "#lib/files/client/open.ts";
import { dirName, joinPath, normalPath } from "#lib/os/paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { bannerText } from "#lib/render/banner.ts";
import { findSerializer } from "#lib/render/own_serializer.ts";
import type { Serializer } from "#lib/render/serializers.ts";
import { copyDeep, updateInPlace } from "#lib/values/dict_update.ts";
import { isMergeStrategy, mergeMaps } from "#lib/values/dict_merge.ts";
import { str, truthy, type ValueMap } from "#lib/values/value.ts";

export const update: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Merge `upd` into `dest`, which is changed. With `merge_lists`, lists are joined; without `recursive_update`, maps are replaced.",
    "slsutil.update '{foo: Foo}' '{bar: Bar}'",
  ),
  params: { dest: p.dict(), upd: p.dict(), recursive_update: p.bool(true), merge_lists: p.bool(false) },
  run: ({ dest, upd, recursive_update: recursive, merge_lists: mergeLists }) => {
    return updateInPlace(dest, upd, { recursive, mergeLists });
  },
});

const MERGING = { strategy: p.str("smart"), renderer: p.str("yaml"), merge_lists: p.bool(false) };

/** @param how The arguments that {@linkcode MERGING} declares. */
function mergeValues(
  a: ValueMap,
  b: ValueMap,
  how: { readonly strategy: string; readonly renderer: string; readonly merge_lists: boolean },
  context: JobContext,
): ValueMap {
  const { strategy, renderer, merge_lists: mergeLists } = how;
  if (!isMergeStrategy(strategy)) context.log("warning", `Unknown merging strategy '${strategy}', fallback to recurse`);
  return mergeMaps(copyDeep(a), b, { strategy, renderer, mergeLists });
}

export const merge: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return `obj_a` merged with `obj_b`, by a strategy: aggregate, list, overwrite, recurse or smart.",
    "slsutil.merge '{foo: Foo}' '{bar: Bar}'",
  ),
  params: { obj_a: p.dict(), obj_b: p.dict(), ...MERGING },
  run: ({ obj_a, obj_b, ...how }, context) => mergeValues(obj_a, obj_b, how, context),
});

export const merge_all: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the maps of a list merged one after the other.",
    "slsutil.merge_all '[{foo: Foo}, {foo: Bar}]'",
  ),
  params: { lst: p.list(), ...MERGING },
  run: ({ lst, ...how }, context) => {
    return lst.reduce((all: ValueMap, one) => {
      if (one instanceof Map) return mergeValues(all, one, how, context);
      throw new InvocationError("Cannot update using non-dict types in dictupdate.update()");
    }, new Map());
  },
});

export const renderer: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Render a file or a text with Salt's renderers, and return the result.

path
    A path on this host, or a URL: \`salt://\`, \`http://\` and so on.

string
    A text, in place of a file.

default_renderer
    The renderers, unless the file's first line names others.

Other keyword arguments are variables of the templates.`,
    "slsutil.renderer salt://path/to/file",
    "slsutil.renderer /path/to/file.jinja default_renderer='jinja'",
    "slsutil.renderer string='Hello, {{ name }}.' name='world'",
  ),
  permissions: "all",
  params: { path: p.str(null), string: p.str(null), default_renderer: p.str("jinja|yaml") },
  varKwargs: "kwargs",
  async run({ path, string, default_renderer: pipe }, context, { kwargs }) {
    const url = path ?? "", given = string ?? "";
    if (url === "" && given === "") throw new InvocationError("Must pass path or string.");
    if (url !== "" && given !== "") throw new InvocationError("Must not pass both path and string.");
    const { saltenv, sls, own, more } = splitKwargs(kwargs);
    const source = url === "" ? { text: given } : await fileAt(url, saltenv, context);
    if (source === undefined) return new Map();
    const request = {
      ...source,
      sls,
      saltenv,
      renderer: pipe,
      kwargs: more,
      ...own === undefined ? {} : { context: own },
    };
    // Loaded when it is called: most of this module's functions need no templates.
    const { renderSls } = await import("#lib/render/render.ts");
    const { jobRenderHost } = await import("#lib/render/job_host.ts");
    return (await renderSls(request, jobRenderHost(context, fileClientOf(context)))).data;
  },
});

/** The keyword arguments that Salt's renderers have names for, and the others. */
function splitKwargs(kwargs: ValueMap) {
  const more = new Map(kwargs);
  for (const name of ["saltenv", "sls", "context"]) more.delete(name);
  const own = kwargs.get("context");
  return {
    saltenv: str(kwargs.get("saltenv") ?? "base"),
    sls: str(kwargs.get("sls") ?? ""),
    own: own instanceof Map ? own : undefined,
    more,
  };
}

/** The file at a path or URL; `undefined` if there is none, which is logged. */
async function fileAt(url: string, saltenv: string, context: JobContext) {
  const path = await fileClientOf(context).cacheFile(url, saltenv);
  try {
    if (path !== undefined) return { path, text: await Deno.readTextFile(path) };
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  context.log("error", `Template does not exist: ${url}`);
  return undefined;
}

async function serializerOf(name: string, context: JobContext): Promise<Serializer> {
  const serializer = await findSerializer(name, context);
  if (serializer === undefined) throw new CommandError(`Serializer '${name}' not found.`);
  return serializer;
}

/** Keyword arguments without the fields of the publication. */
function withoutPrivate(kwargs: ValueMap): ValueMap {
  return new Map([...kwargs].filter(([name]) => !str(name).startsWith("__")));
}

export const serialize: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a value written by a serializer: configparser, json, msgpack, toml, yaml or yamlex. Keyword arguments are its options.",
    "--no-parse=obj slsutil.serialize 'json' obj=\"{'foo': 'Foo!'}\"",
  ),
  params: { serializer: p.str(), obj: p.any() },
  varKwargs: "mod_kwargs",
  run: async ({ serializer, obj }, context, { kwargs }) =>
    await (await serializerOf(serializer, context)).serialize(obj, withoutPrivate(kwargs)),
});

export const deserialize: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value that a serializer reads from a text: configparser, json, msgpack, toml, yaml or yamlex.",
    "slsutil.deserialize 'json' '{\"foo\": \"Foo!\"}'",
    "--no-parse=stream_or_string slsutil.deserialize 'json' stream_or_string='{\"foo\": \"Foo!\"}'",
  ),
  params: { serializer: p.str(), stream_or_string: p.any() },
  varKwargs: "mod_kwargs",
  run: async ({ serializer, stream_or_string: source }, context, { kwargs }) =>
    await (await serializerOf(serializer, context)).deserialize(source, withoutPrivate(kwargs)),
});

const TITLE = "THIS FILE IS MANAGED BY SALT - DO NOT EDIT";
const NOTICE =
  "The contents of this file are managed by Salt. Any changes to this file may be overwritten automatically and " +
  "without warning.";

export const banner: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return a banner for the beginning of a file: that Salt manages it.

width
    The length of a line in characters.

commentchar
    What each line begins with.

borderchar
    What the border is drawn with.

blockstart, blockend
    Lines before and after, for languages without single-line comments.

title, text
    The title and the text of the banner.

newline
    Whether the banner ends with a newline.`,
    "slsutil.banner",
  ),
  params: {
    width: p.int(72),
    commentchar: p.str("#"),
    borderchar: p.str("#"),
    blockstart: p.str(null),
    blockend: p.str(null),
    title: p.str(null),
    text: p.str(null),
    newline: p.bool(false),
  },
  run: ({ title, text, newline, ...form }) => {
    const banner = bannerText({ ...form, title: title ?? TITLE, text: text ?? NOTICE });
    if (banner === undefined) throw new InvocationError("Width is too small to render banner");
    return newline ? `${banner}\n` : banner;
  },
});

export const boolstr: ModuleFunction<JobContext> = fn({
  doc: describe("Return one text for a true value and another for a false one.", "slsutil.boolstr True yes no"),
  params: { value: p.any(), true: p.any("true"), false: p.any("false") },
  run: (bound) => truthy(bound.value) ? bound.true : bound.false,
});

/** What of the state tree is listed. */
type Listed = "fileList" | "dirList";

/** The lists that a job has asked for, as Salt keeps them in `__context__`. */
const answers = new WeakMap<object, Map<string, Promise<ReadonlySet<string>>>>();

/** Whether a list of the file server has `path`. */
async function isListed(
  path: string,
  { list, saltenv }: { readonly list: Listed; readonly saltenv: string },
  context: JobContext,
): Promise<boolean> {
  const lists = answers.get(context.job) ?? new Map<string, Promise<ReadonlySet<string>>>();
  answers.set(context.job, lists);
  const key = `${list} ${saltenv}`;
  const pending = lists.get(key) ?? fileClientOf(context)[list](saltenv).then((paths) => new Set(paths));
  lists.set(key, pending);
  return (await pending).has(path);
}

async function isThere(path: string, saltenv: string, context: JobContext): Promise<boolean> {
  return await isListed(path, { list: "fileList", saltenv }, context) ||
    await isListed(path, { list: "dirList", saltenv }, context);
}

export const file_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the state tree has a file.", "slsutil.file_exists nginx/defaults.yaml"),
  permissions: FILE_CLIENT,
  params: { path: p.str(), saltenv: p.str("base") },
  run: ({ path, saltenv }, context) => isListed(path, { list: "fileList", saltenv }, context),
});

export const dir_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the state tree has a directory.", "slsutil.dir_exists nginx/files"),
  permissions: FILE_CLIENT,
  params: { path: p.str(), saltenv: p.str("base") },
  run: ({ path, saltenv }, context) => isListed(path, { list: "dirList", saltenv }, context),
});

export const path_exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the state tree has a file or directory.", "slsutil.path_exists nginx/defaults.yaml"),
  permissions: FILE_CLIENT,
  params: { path: p.str(), saltenv: p.str("base") },
  run: ({ path, saltenv }, context) => isThere(path, saltenv, context),
});

export const findup: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the path of the first of some files in the state tree, looked for in a directory and then in those above it.

startpath
    Where to begin; empty for the root.

filenames
    A name, or a list of them. Directories are found too.`,
    "slsutil.findup formulas/shared/nginx map.jinja",
  ),
  permissions: FILE_CLIENT,
  params: { startpath: p.any(), filenames: p.any(), saltenv: p.str("base") },
  async run({ startpath, filenames, saltenv }, context) {
    let path = truthy(startpath) ? normalPath(str(startpath)) : "";
    if (path !== "" && !await isThere(path, saltenv, context)) {
      throw new InvocationError(`Starting path not found in the state tree: ${path}`);
    }
    const names = typeof filenames === "string" ? [filenames] : filenames;
    if (!Array.isArray(names)) throw new InvocationError("Filenames argument must be a string or list of strings");
    while (true) {
      for (const name of names) {
        const resolved = normalPath(joinPath(path, normalPath(str(name)).replace(/^\/+/, "")));
        if (await isThere(resolved, saltenv, context)) return resolved;
      }
      if (path === "" || path === "/") throw new CommandError("File pattern(s) not found in path ancestry");
      path = dirName(path);
    }
  },
});
