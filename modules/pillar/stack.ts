/**
 * External pillar `stack` (PillarStack): YAML files that a configuration lists, all of them templates, merged one over
 * the other. Source: Salt 3008.3 `salt/pillar/stack.py`.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { ANY_ENV, environmentDirectories } from "#lib/files/backends/env_directories.ts";
import { globPaths } from "#lib/os/glob_paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { mergeStack } from "./_stack_merge.ts";
import { messageOf } from "#lib/errors.ts";
import { type PillarContext, type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { rstripChars, strip } from "#lib/values/python_text.ts";
import { asList } from "#lib/values/shape.ts";
import { traverse } from "#lib/yaml/traverse.ts";
import { isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Most files that one configuration may list. */
const MAX_FILES = 10_000;

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Merge the YAML files that configuration files list. Both are Jinja templates, which see `pillar`, `minion_id`, `pillarenv`,\n" +
    "`__grains__`, `__opts__` and `__salt__`; the YAML files also see `stack`, the data merged so far, and `ymlpath`. A keyword such as\n" +
    "`pillar:role`, `grains:os` or `opts:saltenv` is a map from its values to configuration files. A map, or the first item of a list,\n" +
    "says by `__` how it is merged: merge-last, merge-first, remove, overwrite.",
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  async run(_bound, context, { args, kwargs }) {
    let stack: ValueMap = new Map();
    for (const path of [...args.map(pathOf), ...chosenEnvironment(kwargs, context)]) {
      context.notes.path(path);
      if (isFile(path)) stack = await mergeConfiguration(path, stack, context);
      else context.log("info", `Ignoring pillar stack cfg "${path}": file does not exist`);
    }
    return stack;
  },
});

/** The configuration files that keywords choose. */
function chosenEnvironment(kwargs: ValueMap, { pillar, grains, opts, log, notes }: PillarContext): string[] {
  const environment = opts.get("pillarenv") || opts.get("saltenv") || "base";
  const pillarenv = str(environment);
  const sources = new Map([["pillar", pillar], ["grains", grains], ["opts", opts]]);
  return [...kwargs].flatMap(([keyword, table]) => {
    const [kind, ...path] = str(keyword).split(":");
    const source = sources.get(kind);
    if (source === undefined || path.length === 0) {
      throw new Error(`Unknown traverse option "${kind}", should be one of dict_keys(['pillar', 'grains', 'opts'])`);
    }
    if (!isMap(table)) throw new Error(`${str(keyword)} must be a map from values to configuration files`);
    const value = traverse(source, path.join(":")) ?? null;
    const entry = table.get(value) ?? (value === pillarenv ? table.get(ANY_ENV) : undefined) ?? [];
    const files = asList(entry);
    return files.map(pathOf).flatMap((file) => {
      if (!file.includes(ANY_ENV)) return [file];
      const placed = environmentDirectories([file], pillarenv, { follow: false });
      if (placed !== undefined) return placed;
      log("warning", `The environment ${repr(pillarenv.slice(0, 100))} is not used for ${file}: it leads elsewhere`);
      notes.changing("its environment is not used");
      return [];
    });
  });
}

function pathOf(file: Value): string {
  if (typeof file !== "string") throw new Error(`a configuration file must be a path, not ${repr(file)}`);
  return file;
}

/** `stack` with the files that a configuration lists. */
async function mergeConfiguration(config: string, stack: ValueMap, context: PillarContext): Promise<ValueMap> {
  const { log, notes } = context;
  const directory = dirName(config);
  let merged = stack;
  const source = read(config, notes);
  const text = await template({ path: config, source, own: new Map([["stack", merged]]), directory }, context);
  const items = writtenItems(source);
  for (const item of filesOf(text)) {
    if (strip(item) === "") continue;
    const pattern = item.startsWith("/") ? item : `${directory}/${item}`;
    if (!items.has(strip(item)) && !staysBelow(directory, pattern)) {
      log("error", `The item ${repr(item.slice(0, 100))} of ${config} is not used: it leads elsewhere`);
      continue;
    }
    const paths = globPaths(pattern);
    noteGlob(pattern, context);
    if (paths.length === 0) {
      log("info", `Ignoring pillar stack template "${item}": can't find from root dir "${directory}"`);
    }
    if (paths.length > MAX_FILES) throw new Error(`"${item}" means more than ${MAX_FILES} files`);
    for (const path of paths) {
      const variables = new Map<Value, Value>([["stack", merged], ["ymlpath", path]]);
      let yaml: string;
      try {
        yaml = await template({ path, source: read(path, notes), own: variables, directory }, context);
      } catch (error) {
        throw new Error(`Stack pillar template render error in ${path}:\n"${messageOf(error)}"`, { cause: error });
      }
      merged = mergeParsed(merged, yaml, path);
    }
  }
  return merged;
}

function mergeParsed(stack: ValueMap, yaml: string, path: string): ValueMap {
  let data: Value;
  try {
    data = loadYaml(yaml, path);
  } catch (error) {
    throw new Error(`Stack pillar yaml parsing error in ${path}:\n${messageOf(error)}\n${yaml}`, { cause: error });
  }
  return isMap(data) ? mergeStack(stack, data) : stack;
}

/** A configuration is a list in YAML, or a file on each line. */
function filesOf(text: string): string[] {
  try {
    const list = loadYaml(text);
    if (Array.isArray(list)) return list.map(str);
  } catch {
    // No YAML: lines.
  }
  return splitLines(text).map((line) => rstripChars(line, "\r\n"));
}

/** The lines of a configuration as the operator wrote them, as lines and as items of a list in YAML. */
function writtenItems(source: string): ReadonlySet<string> {
  return new Set(
    splitLines(source).map(strip).flatMap((line) => {
      const item = /^-\s+(?:"([^"\\]*)"|'([^']*)'|(.*))$/.exec(line);
      return [line, item?.[1] ?? item?.[2] ?? item?.[3] ?? line];
    }),
  );
}

/** Whether a pattern that templates built, with values of a minion perhaps, means only files below `directory`. */
function staysBelow(directory: string, pattern: string): boolean {
  return pattern.startsWith(`${directory}/`) && !pattern.split("/").includes("..", directory.split("/").length);
}

/** Which files there are depends on the directories of the pattern. */
function noteGlob(pattern: string, { notes }: PillarContext): void {
  const steps = pattern.split("/");
  const plain = steps.findIndex((step) => /[*?[]/.test(step));
  if (plain < 0) return notes.path(pattern);
  for (let end = plain; end < steps.length; end++) {
    for (const directory of globPaths(steps.slice(0, end).join("/") || "/")) notes.path(directory);
  }
}

function read(path: string, notes: PillarContext["notes"]): string {
  notes.path(path);
  return Deno.readTextFileSync(path);
}

interface Template {
  readonly path: string;
  readonly source: string;
  /** Variables of this template alone. */
  readonly own: ValueMap;
  /** Where its imports are. */
  readonly directory: string;
}

async function template(
  { path, source, own, directory }: Template,
  { pillar, grains, opts, minionId, render }: PillarContext,
): Promise<string> {
  const variables = new Map<Value, Value>([
    ["minion_id", minionId],
    ["pillar", pillar],
    ["pillarenv", opts.get("pillarenv") ?? null],
    ["__grains__", grains],
    ["__opts__", opts],
    ["__stack__", new Map([["cfg_path", path]])],
    ...own,
  ]);
  // A name of this source alone; a statement without its own line keeps the numbers of lines.
  const text = source.includes("__salt__") ? `{% set __salt__ = salt %}${source}` : source;
  return str(
    await render({ text, path, renderer: "jinja", context: variables, imports: directory, allowUndefined: true }),
  );
}
