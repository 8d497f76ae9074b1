/**
 * Execution module `defaults`: the defaults of formulas, which are in files on the file server, and the merging of
 * maps. Source: the functions of Salt 3008.3 `salt/modules/defaults.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { copyDeep, updateInPlace } from "#lib/values/dict_update.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { traverseOr } from "#lib/yaml/traverse.ts";
import { isMap, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** @throws {InvocationError} As Salt's, if it is not a map. */
function asMap(value: Value, { none }: { readonly none: boolean }): ValueMap {
  if (value === null && none) return new Map();
  if (!isMap(value)) throw new InvocationError("Cannot update using non-dict types in dictupdate.update()");
  return value;
}

/** A formula's defaults; None if there is no file of them. */
async function defaultsOf(formula: string, context: JobContext): Promise<Value> {
  const { fileClientOf } = await import("#lib/files/client/open.ts");
  for (const ending of ["yaml", "json"]) {
    const path = await fileClientOf(context).cacheFile(`salt://${formula}/defaults.${ending}`, "base");
    if (path === undefined) continue;
    // JSON is YAML as well.
    const defaults = loadYaml(await Deno.readTextFile(path), path);
    return truthy(defaults) ? defaults : new Map();
  }
  return null;
}

const HOW = { in_place: p.bool(true), convert_none: p.bool(true) };

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a value of a formula's defaults file on the file server: `core/defaults.yaml`, else `core/defaults.json`. Without a path, all of it; None if there is no such file.",
    "defaults.get core:users:root",
  ),
  permissions: { read: true, write: ["{cachedir}"] },
  params: { key: p.str(), default: p.any("") },
  async run({ key, default: fallback }, context) {
    const [formula, ...path] = key.split(":");
    const defaults = await defaultsOf(formula, context);
    if (path.join(":") === "") return defaults;
    return isMap(defaults) ? traverseOr(defaults, path.join(":"), { delimiter: ":", fallback }) : fallback;
  },
});

export const merge: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a map merged with another one, recursively; with `merge_lists`, lists are joined.",
    "defaults.merge '{a: b}' '{d: e}'",
  ),
  params: { dest: p.any(), src: p.any(), merge_lists: p.bool(false), ...HOW },
  run: ({ dest, src, merge_lists: mergeLists, in_place, convert_none: none }) => {
    if (dest === null && none && in_place) throw new InvocationError("Can't perform in-place merge into NoneType");
    // Templates rely on it that the map itself is changed: `{% do salt['defaults.merge'](settings, own) %}`.
    const own = asMap(dest, { none });
    return updateInPlace(in_place ? own : copyDeep(own), asMap(src, { none }), { recursive: true, mergeLists });
  },
});

export const deepcopy: ModuleFunction<JobContext> = fn({
  doc: describe("Return a copy of a value.", "defaults.deepcopy '{a: b}'"),
  params: { source: p.any() },
  run: ({ source }) => copyDeep(source),
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a map of maps, each merged over `defaults`.",
    "defaults.update '{node1: {a: 1}, node2: {a: 2}}' '{a: 0, b: 0}'",
  ),
  params: { dest: p.any(), defaults: p.any(), merge_lists: p.bool(true), ...HOW },
  run: ({ dest, defaults, merge_lists: mergeLists, in_place, convert_none: none }) => {
    if (dest === null && in_place) throw new InvocationError("Can't perform in-place update into NoneType");
    const base = asMap(defaults, { none }), given = asMap(dest, { none });
    const nodes = in_place ? given : copyDeep(given);
    for (const [node, own] of nodes) {
      nodes.set(node, updateInPlace(copyDeep(base), asMap(own, { none }), { recursive: true, mergeLists }));
    }
    return nodes;
  },
});
