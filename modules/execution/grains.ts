/**
 * Execution module `grains`: what the minion knows of its host. Reading only; setting grains comes with states.
 * Source: the reading functions of Salt 3008.3 `salt/modules/grains.py`.
 * @module
 */

import { InvocationError } from "../../lib/errors.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, bool, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import { DEFAULT_TARGET_DELIM, traverse, traverseOr } from "../../lib/values/traverse.ts";
import { compare, str as text, truthy, type Value, type ValueMap } from "../../lib/values/value.ts";

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a grain, or what lies below it at a path such as `systemd:version`; `default` if there is no such thing.\n" +
      "`delimiter` stands between the steps of the path. `ordered` is taken for Salt's sake: maps keep their order.",
    "grains.get os",
    "grains.get systemd:version",
    "grains.get 'abc::def|ghi' delimiter='|'",
  ),
  params: { key: any(), default: any(""), delimiter: str(DEFAULT_TARGET_DELIM), ordered: bool(true) },
  run: ({ key, default: fallback, delimiter }, { grains }) => traverseOr(grains, key, { delimiter, fallback }),
});

export const fetch: ModuleFunction<JobContext> = get;

export const has_value: ModuleFunction<JobContext> = fn({
  doc: describe("Whether there is a grain, or something below it at a path.", "grains.has_value systemd:version"),
  params: { key: any() },
  run: ({ key }, { grains }) => traverse(grains, key) !== undefined,
});

export const equals: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Whether the grain at a path has a value; both are compared as text.",
    "grains.equals fqdn web1.example.com",
    "grains.equals systemd:version 219",
  ),
  params: { key: any(), value: any() },
  run: ({ key, value }, { grains }) =>
    text(traverseOr(grains, key, { delimiter: DEFAULT_TARGET_DELIM, fallback: "" })) === text(value),
});

export const items: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return all grains; with `sanitize`, without the names and serial number that tell who the host is.",
    "grains.items",
    "grains.items sanitize=True",
  ),
  params: { sanitize: bool(false) },
  outputter: "nested",
  run: ({ sanitize }, { grains }) => sanitize ? sanitized(grains) : grains,
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
    const found: ValueMap = new Map(args.map((path) => [path, traverseOr(grains, path, { delimiter, fallback })]));
    return isTrue(kwargs.get("sanitize")) ? sanitized(found) : found;
  },
});

export const ls: ModuleFunction<JobContext> = fn({
  doc: describe("List the names of all grains.", "grains.ls"),
  params: {},
  run: (_bound, { grains }) => [...grains.keys()].sort(compare),
});

/** What stands in for the grains that tell who the host is. */
const SANITIZERS: Readonly<Record<string, (value: string) => string>> = {
  serialnumber: (value) => {
    const shown = Math.floor(value.length * 0.75);
    return value.slice(0, shown) + "X".repeat(value.length - shown);
  },
  domain: () => "DOMAINNAME",
  fqdn: () => "MINION.DOMAINNAME",
  id: () => "MINION.DOMAINNAME",
  host: () => "MINION",
  localhost: () => "MINION",
  nodename: () => "MINION",
};

function sanitized(grains: ValueMap): ValueMap {
  const out = new Map(grains);
  for (const [name, sanitize] of Object.entries(SANITIZERS)) {
    const value = out.get(name);
    if (value !== undefined) out.set(name, sanitize(text(value)));
  }
  return out;
}

function isTrue(value: Value | undefined): boolean {
  return typeof value === "string" ? value.toLowerCase() === "true" : truthy(value);
}
