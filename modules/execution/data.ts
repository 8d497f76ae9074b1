/**
 * Execution module `data`: a map that the minion keeps on its disk, in Salt's file `datastore` below `cachedir`.
 * Source: the functions of Salt 3008.3 `salt/modules/data.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { equals, isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";

// The directory, because a file is written under another name first.
const READ: Permissions = { read: ["{cachedir}"] };
const WRITE: Permissions = { read: ["{cachedir}"], write: ["{cachedir}"] };

function storePath({ opts }: JobContext): string {
  return `${rstripChars(opts.cachedir, "/")}/datastore`;
}

function readStore(context: JobContext): ValueMap {
  const bytes = readFileIfExists(storePath(context));
  if (bytes === undefined || bytes.length === 0) return new Map();
  return mapOrEmpty(decode(bytes, "disk"));
}

function writeStore(store: ValueMap, context: JobContext): true {
  writeFileAtomic(storePath(context), encode(store, "disk"), { mode: 0o600 });
  return true;
}

export const load: ModuleFunction<JobContext> = fn({
  doc: describe("Return the whole data store.", "data.load"),
  permissions: READ,
  params: {},
  run: (_bound, context) => readStore(context),
});

export const items: ModuleFunction<JobContext> = fn({
  doc: describe("Return the whole data store.", "data.items"),
  permissions: READ,
  params: {},
  run: (_bound, context) => readStore(context),
});

export const keys: ModuleFunction<JobContext> = fn({
  doc: describe("Return the keys of the data store.", "data.keys"),
  permissions: READ,
  params: {},
  run: (_bound, context) => [...readStore(context).keys()],
});

export const values: ModuleFunction<JobContext> = fn({
  doc: describe("Return the values of the data store.", "data.values"),
  permissions: READ,
  params: {},
  run: (_bound, context) => [...readStore(context).values()],
});

export const has_key: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a key.", "data.has_key <key>"),
  permissions: READ,
  params: { key: p.any() },
  run: ({ key }, context) => readStore(context).has(key),
});

export const get: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of a key, or `default`; for a list of keys, the values of the existing keys, or, with `default`, of all keys.",
    "data.get <key>",
    'data.get \'["key1", "key2"]\'',
  ),
  permissions: READ,
  params: { key: p.any(), default: p.any(null) },
  run: ({ key, default: fallback }, context) => {
    const store = readStore(context);
    if (!Array.isArray(key)) return store.get(key) ?? fallback;
    const keys = fallback === null ? key.filter((each) => store.has(each)) : key;
    return keys.map((each) => store.get(each) ?? fallback);
  },
});

export const clear: ModuleFunction<JobContext> = fn({
  doc: describe("Clear the data store.", "data.clear"),
  permissions: WRITE,
  params: {},
  run: (_bound, context) => {
    removeIfExists(storePath(context));
    return true;
  },
});

export const dump: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Replace the whole data store by a map. False if the argument is no map.",
    'data.dump \'{"eggs": "spam"}\'',
  ),
  permissions: WRITE,
  params: { new_data: p.any() },
  run: ({ new_data }, context) => {
    const store = typeof new_data === "string" ? loadYaml(new_data) : new_data;
    return isMap(store) && writeStore(store, context);
  },
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe("Set a key.", "data.update <key> <value>"),
  permissions: WRITE,
  params: { key: p.any(), value: p.any() },
  run: ({ key, value }, context) => writeStore(readStore(context).set(key, value), context),
});

export const cas: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a key if its value equals old_value, and return whether it did.",
    "data.cas <key> <value> <old_value>",
  ),
  permissions: WRITE,
  params: { key: p.any(), value: p.any(), old_value: p.any() },
  run: ({ key, value, old_value }, context) => {
    const store = readStore(context);
    const current: Value | undefined = store.get(key);
    if (current === undefined || !equals(current, old_value)) return false;
    return writeStore(store.set(key, value), context);
  },
});

export const pop: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a key, and return its value, or `default`.", "data.pop <key>"),
  permissions: WRITE,
  params: { key: p.any(), default: p.any(null) },
  run: ({ key, default: fallback }, context) => {
    const store = readStore(context);
    const value = store.get(key);
    store.delete(key);
    writeStore(store, context);
    return value === undefined ? fallback : value;
  },
});
