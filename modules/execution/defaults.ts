/**
 * Execution module `defaults`: merging of maps, as formulas do with their defaults. Their files come from the file server, which is not built yet.
 * Source: the functions of Salt 3008.3 `salt/modules/defaults.py`.
 * @module
 */

import { CommandError, InvocationError } from "../../lib/errors.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, bool, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import { updateMap } from "../../lib/values/dict_update.ts";
import { isMap, type Value, type ValueMap } from "../../lib/values/value.ts";

/** @throws {InvocationError} As Salt's, if it is no map. */
function asMap(value: Value, { none }: { readonly none: boolean }): ValueMap {
  if (value === null && none) return new Map();
  if (!isMap(value)) throw new InvocationError("Cannot update using non-dict types in dictupdate.update()");
  return value;
}

const HOW = { in_place: bool(true), convert_none: bool(true) };

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a value out of a formula's file of defaults on the file server. There is no file server yet, which the error says.",
    "defaults.get core:users:root",
  ),
  params: { key: str(), default: any("") },
  run: ({ key }) => {
    throw new CommandError(`Cannot read the defaults of '${key.split(":", 1)[0]}': there is no file server yet`);
  },
});

export const merge: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a map with what another one has: below its maps as well, and with `merge_lists` lists joined.",
    "defaults.merge '{a: b}' '{d: e}'",
  ),
  params: { dest: any(), src: any(), merge_lists: bool(false), ...HOW },
  run: ({ dest, src, merge_lists: mergeLists, in_place, convert_none: none }) => {
    if (dest === null && none && in_place) throw new InvocationError("Can't perform in-place merge into NoneType");
    return updateMap(asMap(dest, { none }), asMap(src, { none }), { mergeLists });
  },
});

export const deepcopy: ModuleFunction<JobContext> = fn({
  doc: describe("Return a copy of a value.", "defaults.deepcopy '{a: b}'"),
  params: { source: any() },
  run: ({ source }) => source,
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a map of maps, each laid over `defaults`.",
    "defaults.update '{node1: {a: 1}, node2: {a: 2}}' '{a: 0, b: 0}'",
  ),
  params: { dest: any(), defaults: any(), merge_lists: bool(true), ...HOW },
  run: ({ dest, defaults, merge_lists: mergeLists, in_place, convert_none: none }) => {
    if (dest === null && in_place) throw new InvocationError("Can't perform in-place update into NoneType");
    const base = asMap(defaults, { none });
    return new Map([...asMap(dest, { none })].map(([node, own]) => [
      node,
      updateMap(base, asMap(own, { none }), { mergeLists }),
    ]));
  },
});
