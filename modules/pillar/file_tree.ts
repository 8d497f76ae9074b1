/**
 * External pillar `file_tree`: directories as maps, files as values, for a minion and for the node groups that it is
 * in. Source: Salt 3008.3 `salt/pillar/file_tree.py`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { type PillarContext, type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { compareStrings, isMap, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { updateMap } from "#lib/values/dict_update.ts";

/** Most bytes of all files of one minion, and most of them. */
const MAX_BYTES = 64 * 2 ** 20, MAX_FILES = 100_000;
/** Deepest directory: links may form cycles. */
const DEEPEST = 40;

interface Options {
  readonly follow_dir_links: boolean;
  readonly keep_newline: boolean | readonly Value[];
  readonly render_default: string | null;
  readonly renderer_blacklist: Value;
  readonly renderer_whitelist: Value;
  readonly template: boolean;
}

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Return the files below `<root_dir>/hosts/<minion id>`, over those below `<root_dir>/nodegroups/<group>` of the groups that the\n" +
    "minion is in: a directory is a map, a file its bytes without the last line end. `keep_newline` keeps it in all files, or\n" +
    "in those that match a glob of a list. With `template`, files are rendered, by `render_default` if they name no renderer.\n" +
    "A relative `root_dir` is below the pillar roots of the environment.",
  params: {
    root_dir: p.any(null),
    follow_dir_links: p.any(false),
    debug: p.any(false),
    keep_newline: p.any(false),
    render_default: p.any(null),
    renderer_blacklist: p.any(null),
    renderer_whitelist: p.any(null),
    template: p.any(false),
  },
  async run({ root_dir, keep_newline, render_default, debug: _debug, ...flags }, context) {
    const nothing: ValueMap = new Map();
    if (!truthy(root_dir)) {
      context.log("error", "file_tree: no root_dir specified");
      return nothing;
    }
    if (typeof root_dir !== "string") throw new Error(`root_dir must be a path, not ${repr(root_dir)}`);
    if (render_default !== null && typeof render_default !== "string") {
      throw new Error(`render_default must name renderers, not ${repr(render_default)}`);
    }
    if (typeof keep_newline !== "boolean" && !Array.isArray(keep_newline)) {
      context.log("error", "file_tree: keep_newline must be either True/False or a list of file globs");
      return nothing;
    }
    const options: Options = {
      ...flags,
      follow_dir_links: truthy(flags.follow_dir_links),
      // As in Salt: a word such as `yes` is none.
      template: flags.template === true,
      render_default,
      keep_newline,
    };
    let pillar = nothing;
    for (const root of directories(root_dir, context)) {
      context.notes.path(root);
      if (!isDirectory(root)) {
        context.log("error", `file_tree: root_dir ${root} does not exist or is not a directory`);
        continue;
      }
      pillar = updateMap(pillar, await treeOf(root, options, context), { mergeLists: false });
    }
    return pillar;
  },
});

/** The directories that `root_dir` means. */
function directories(root: string, { opts, log }: PillarContext): string[] {
  if (root.startsWith("/")) return [root];
  const pillarenv = opts.get("pillarenv") ?? null;
  const roots = opts.get("pillar_roots");
  const directoryNames = isMap(roots) && pillarenv !== null ? roots.get(pillarenv) : undefined;
  if (!Array.isArray(directoryNames)) {
    log("error", `file_tree: root_dir is relative but there are no pillar_roots for pillarenv ${repr(pillarenv)}`);
    return [];
  }
  return [...new Set(directoryNames.map((directory) => `${str(directory)}/${root}`))];
}

async function treeOf(root: string, options: Options, context: PillarContext): Promise<ValueMap> {
  const left = { bytes: MAX_BYTES, files: MAX_FILES };
  let pillar: ValueMap = new Map();
  context.notes.path(`${root}/nodegroups`);
  if (isDirectory(`${root}/nodegroups`)) {
    const mine = context.nodegroups();
    for (const { name } of entriesOf(`${root}/nodegroups`)) {
      if (!mine.includes(name)) continue;
      const group = await read(`${root}/nodegroups/${name}`, "", { options, context, left, depth: 0 });
      pillar = updateMap(pillar, group, { mergeLists: false });
    }
  }
  // An id has no slash: it is one step of the path.
  const host = `${root}/hosts/${context.minionId}`;
  context.notes.path(host);
  if (context.minionId === ".." || !isDirectory(host)) return pillar;
  return updateMap(pillar, await read(host, "", { options, context, left, depth: 0 }), { mergeLists: false });
}

interface Reading {
  readonly options: Options;
  readonly context: PillarContext;
  readonly left: { bytes: number; files: number };
  readonly depth: number;
}

/** A directory as a map. */
async function read(root: string, below: string, reading: Reading): Promise<ValueMap> {
  const { options, context, left, depth } = reading;
  const directory = below === "" ? root : `${root}/${below}`;
  context.notes.path(directory);
  const values: ValueMap = new Map();
  const files: string[] = [];
  for (const entry of entriesOf(directory)) {
    const path = `${directory}/${entry.name}`;
    if (entry.isDirectory || (entry.isSymlink && isDirectory(path))) {
      // As in Salt, a link to a directory that is not followed is an empty one.
      const follows = entry.isDirectory || options.follow_dir_links;
      if (depth >= DEEPEST) throw new Error(`file_tree: ${path} is more than ${DEEPEST} directories deep`);
      const inner = below === "" ? entry.name : `${below}/${entry.name}`;
      values.set(entry.name, follows ? await read(root, inner, { ...reading, depth: depth + 1 }) : new Map());
    } else {
      files.push(entry.name);
    }
  }
  for (const name of files) {
    const path = `${directory}/${name}`;
    if (!isFile(path)) {
      context.log("error", `file_tree: ${path}: not a regular file`);
      continue;
    }
    if (--left.files < 0) throw new Error(`file_tree: ${root}: more than ${MAX_FILES} files`);
    context.notes.path(path);
    const { size } = Deno.statSync(path);
    left.bytes -= size;
    if (left.bytes < 0) throw new Error(`file_tree: ${root}: more than ${MAX_BYTES} bytes`);
    const bytes = trimNewline(Deno.readFileSync(path), below === "" ? `./${name}` : `${below}/${name}`, options);
    values.set(name, options.template ? await renderFile(path, bytes, reading) : bytes);
  }
  return values;
}

function renderFile(path: string, bytes: Uint8Array, { options, context }: Reading): Promise<Value> {
  return context.render({
    text: new TextDecoder().decode(bytes),
    path,
    renderer: options.render_default ?? "",
    blacklist: options.renderer_blacklist,
    whitelist: options.renderer_whitelist,
  });
}

/** Without the last line end, unless it is to be kept. */
function trimNewline(bytes: Uint8Array, path: string, { keep_newline: kept }: Options): Uint8Array {
  if (bytes.at(-1) !== 0x0a) return bytes;
  const keeps = typeof kept === "boolean" ? kept : kept.some((pattern) => matchesGlob(str(pattern), path));
  return keeps ? bytes : bytes.slice(0, -1);
}

function entriesOf(directory: string): Deno.DirEntry[] {
  return [...Deno.readDirSync(directory)].sort((a, b) => compareStrings(a.name, b.name));
}
