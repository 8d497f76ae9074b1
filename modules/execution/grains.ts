/**
 * Execution module `grains`: the facts about the minion's host, and grains that an operator has set. Source: Salt
 * 3008.3 `salt/modules/grains.py`.
 * @module
 */

import { appendToGrain, removeFromGrain, setGrain, setGrains } from "./_grains_setting.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { filterBy } from "#lib/text/filter_by.ts";
import { DEFAULT_TARGET_DELIM, traverse, traverseOr } from "#lib/yaml/traverse.ts";
import { compare, isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a grain, or a value in it at a path such as `systemd:version`; `default` if there is none.\n" +
      "`delimiter` separates the steps of the path. `ordered` is accepted for compatibility: maps always keep their order.",
    "grains.get os",
    "grains.get systemd:version",
    "grains.get 'abc::def|ghi' delimiter='|'",
  ),
  params: { key: p.any(), default: p.any(""), delimiter: p.str(DEFAULT_TARGET_DELIM), ordered: p.bool(true) },
  run: ({ key, default: fallback, delimiter }, { grains }) => traverseOr(grains, key, { delimiter, fallback }),
});

export const fetch: ModuleFunction<JobContext> = get;

export const has_value: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a grain, or a value at a path in it.", "grains.has_value systemd:version"),
  params: { key: p.any() },
  run: ({ key }, { grains }) => traverse(grains, key) !== undefined,
});

export const equals: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether the grain at a path equals a value; both are compared as text.",
    "grains.equals fqdn web1.example.com",
    "grains.equals systemd:version 219",
  ),
  params: { key: p.any(), value: p.any() },
  run: ({ key, value }, { grains }) =>
    str(traverseOr(grains, key, { delimiter: DEFAULT_TARGET_DELIM, fallback: "" })) === str(value),
});

export const items: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return all grains; with `sanitize`, without the host's names and serial number.",
    "grains.items",
    "grains.items sanitize=True",
  ),
  params: { sanitize: p.bool(false) },
  outputter: "nested",
  run: ({ sanitize }, { grains }) => sanitize ? sanitizeGrains(grains) : grains,
});

export const item: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return one or more grains by name or path, as a map. `default`, `delimiter` and `sanitize` are as in grains.get and\n" +
      "grains.items.",
    "grains.item os",
    "grains.item os osrelease oscodename",
    "grains.item host sanitize=True",
  ),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  outputter: "nested",
  run: (_bound, { grains }, { args, kwargs }) => {
    const delimiter = kwargs.get("delimiter") ?? DEFAULT_TARGET_DELIM;
    if (typeof delimiter !== "string") throw new InvocationError("argument 'delimiter' must be a str");
    const given = kwargs.get("default");
    const fallback = given === undefined ? "" : given;
    const items: ValueMap = new Map(args.map((path) => [path, traverseOr(grains, path, { delimiter, fallback })]));
    return isTrue(kwargs.get("sanitize")) ? sanitizeGrains(items) : items;
  },
});

export const ls: ModuleFunction<JobContext> = fn({
  doc: describe("List the names of all grains.", "grains.ls"),
  params: {},
  run: (_bound, { grains }) => [...grains.keys()].sort(compare),
});

/** Setting writes the file `grains` beside the configuration. */
const SETTING: Permissions = { read: ["{config_dir}"], write: ["{config_dir}"] };

export const setvals: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set grains in the minion's grains file, and refresh the minion's grains. With `destructive`, a grain whose value is None\n" +
      "is removed. With refresh_pillar=False, the pillar is not refreshed.",
    `grains.setvals "{'key1': 'val1', 'key2': 'val2'}"`,
  ),
  permissions: SETTING,
  params: { grains: p.any(), destructive: p.bool(false), refresh_pillar: p.bool(true) },
  run({ grains, destructive, refresh_pillar }, context) {
    if (!isMap(grains)) throw new CommandError("setvals grains must be a dictionary.");
    return setGrains(grains, context, { destructive, refreshPillar: refresh_pillar });
  },
});

export const setval: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set one grain, as grains.setvals does.",
    "grains.setval key val",
    `grains.setval key "{'sub-key': 'val', 'sub-key2': 'val2'}"`,
  ),
  permissions: SETTING,
  params: { key: p.any(), val: p.any(), destructive: p.bool(false), refresh_pillar: p.bool(true) },
  run: ({ key, val, destructive, refresh_pillar }, context) =>
    setGrains(new Map([[key, val]]), context, { destructive, refreshPillar: refresh_pillar }),
});

export const set: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the grain at a path such as `apps:myApp:port`. Replacing a list or a map, or replacing a value by one, needs `force`. With\n" +
      "`destructive`, a grain that is set to None is removed.",
    "grains.set 'apps:myApp:port' 2209",
    "grains.set 'apps:myApp' '{port: 2209}'",
  ),
  permissions: SETTING,
  params: {
    key: p.str(),
    val: p.any(""),
    force: p.bool(false),
    destructive: p.bool(false),
    delimiter: p.str(DEFAULT_TARGET_DELIM),
  },
  run: ({ key, val, ...options }, context) => setGrain(key, val, context, options),
});

export const append: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Append a value, or each value of a list, to the list at a path, which is made if there is none. With `convert`, an\n" +
      "existing other value becomes the first item of the list.",
    "grains.append key val",
  ),
  permissions: SETTING,
  params: { key: p.str(), val: p.any(), convert: p.bool(false), delimiter: p.str(DEFAULT_TARGET_DELIM) },
  run: ({ key, val, ...options }, context) => appendToGrain(key, val, context, options),
});

export const remove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a value from the list at a path.", "grains.remove key val"),
  permissions: SETTING,
  params: { key: p.str(), val: p.any(), delimiter: p.str(DEFAULT_TARGET_DELIM) },
  run: ({ key, val, delimiter }, context) => removeFromGrain(key, val, context, { delimiter }),
});

export const delval: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the grain at a path to None, or remove it with `destructive`. A list or a map needs `force`.",
    "grains.delval key",
  ),
  permissions: SETTING,
  params: { key: p.str(), destructive: p.bool(false), force: p.bool(false) },
  run: ({ key, ...options }, context) => setGrain(key, null, context, { ...options, delimiter: DEFAULT_TARGET_DELIM }),
});

export const delkey: ModuleFunction<JobContext> = fn({
  doc: describe("Remove the grain at a path. A list or a map needs `force`.", "grains.delkey key"),
  permissions: SETTING,
  params: { key: p.str(), force: p.bool(false) },
  run: ({ key, force }, context) =>
    setGrain(key, null, context, { force, destructive: true, delimiter: DEFAULT_TARGET_DELIM }),
});
export const filter_by: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of a table whose key, a glob, matches a grain; if the grain is a list, its first item with a match\n" +
      "decides. Without a match, the value of the key `default`. `base` is the key of a map that the value is merged over, and\n" +
      "`merge` a map that is merged over both.",
    "grains.filter_by '{Debian: Debheads rule, RedHat: I love my hat}'",
    "grains.filter_by '{default: {A: {B: C}, D: E}, F: {A: {B: G}}, H: {D: I}}' 'xxx' '{D: J}' 'F' 'default'",
  ),
  params: {
    lookup_dict: p.dict(),
    grain: p.any("os_family"),
    merge: p.any(null),
    default: p.any("default"),
    base: p.any(null),
  },
  run: ({ lookup_dict, grain, merge, default: fallback, base }, { grains }) =>
    filterBy(lookup_dict, traverse(grains, grain), { merge, fallback, base }),
});

/** What stands in for the grains that tell who the host is. */
const SANITIZERS: Readonly<Record<string, (value: string) => string>> = {
  serialnumber: (value) => {
    const hiddenCount = Math.floor(value.length * 0.75);
    return value.slice(0, hiddenCount) + "X".repeat(value.length - hiddenCount);
  },
  domain: () => "DOMAINNAME",
  fqdn: () => "MINION.DOMAINNAME",
  id: () => "MINION.DOMAINNAME",
  host: () => "MINION",
  localhost: () => "MINION",
  nodename: () => "MINION",
};

function sanitizeGrains(grains: ValueMap): ValueMap {
  const out = new Map(grains);
  for (const [name, sanitize] of Object.entries(SANITIZERS)) {
    const value = out.get(name);
    if (value !== undefined) out.set(name, sanitize(str(value)));
  }
  return out;
}

function isTrue(value: Value | undefined): boolean {
  return typeof value === "string" ? value.toLowerCase() === "true" : truthy(value);
}
