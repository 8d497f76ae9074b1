/**
 * Execution module `sysfs`: attributes of the kernel's objects.
 * Source: the functions of Salt 3008.3 `salt/modules/sysfs.py`.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { baseName, joinPath } from "#lib/os/paths.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { attributesBelow, readSysfs, sysfsPath, writeSysfs } from "#lib/host/kernel/sysfs.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ grains: { kernel: ["Linux"] }, otherwise: "The sysfs module is for Linux." }],
};

function readKey(key: string): Value {
  const path = sysfsPath(key);
  return path === undefined ? false : readSysfs(path);
}

function writeKey(key: string, value: Value): boolean {
  const path = sysfsPath(key);
  return path !== undefined && writeSysfs(path, str(value));
}

export const attr: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of an attribute; with `value`, set it and return whether this succeeded. For an object, return its path.",
    "sysfs.attr block/sda/queue/logical_block_size",
  ),
  permissions: "all",
  params: { key: p.str(), value: p.any(null) },
  run({ key, value }) {
    const path = sysfsPath(key);
    if (path === undefined) return false;
    if (isDirectory(path)) return path;
    return value === null ? readSysfs(path) : writeSysfs(path, str(value));
  },
});

export const write: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set an attribute. Return whether this succeeded.",
    "sysfs.write devices/system/cpu/cpu0/cpufreq/scaling_governor 'performance'",
  ),
  permissions: "all",
  params: { key: p.str(), value: p.any() },
  run: ({ key, value }) => writeKey(key, value),
});

export const read: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the value of an attribute, or a map of all attributes below an object; for a list of keys below `root`, a map. False if there is nothing to read.",
    "sysfs.read class/net/em1/statistics",
  ),
  permissions: "all",
  params: { key: p.any(), root: p.str("") },
  run({ key, root }) {
    if (!Array.isArray(key)) return readKey(joinPath(root, str(key)));
    const values: ValueMap = new Map();
    for (const one of key) {
      const value = readKey(joinPath(root, str(one)));
      if (value !== false) values.set(one, value);
    }
    return values;
  },
});

export const target: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the target of a key, or, with full=False, the target's last part. False if there is none.",
    "sysfs.target class/ttyS0",
  ),
  permissions: "all",
  params: { key: p.str(), full: p.bool(true) },
  run({ key, full }, context) {
    const path = sysfsPath(key);
    if (path === undefined) {
      context.log("debug", `Unknown SysFS key ${key}`);
      return false;
    }
    return full ? path : baseName(path);
  },
});

export const interfaces: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the attributes below an object: those that can be read (r), written (w), and both (rw).",
    "sysfs.interfaces block/bcache0/bcache",
  ),
  permissions: "all",
  params: { root: p.str() },
  run({ root }, context) {
    const path = sysfsPath(root);
    if (path === undefined || !isDirectory(path)) {
      context.log("error", `SysFS ${path ?? "False"} not a dir`);
      return false;
    }
    const { r, w, rw } = attributesBelow(path);
    return map({ r: [...r], w: [...w], rw: [...rw] });
  },
});
