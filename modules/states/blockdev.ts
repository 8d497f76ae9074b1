/**
 * State module `blockdev`: settings of block devices, and file systems on them.
 * Source: Salt 3008.3 `salt/states/blockdev.py`.
 * @module
 */

import { which } from "#lib/programs/which.ts";
import { exists } from "#lib/os/file_kind.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { equals, isMap, map, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    functions: ["disk.tune"],
    otherwise: "Cannot load the blockdev state module: disk execution module not found",
  }],
};

/** Which value of `disk.dump` tells of an argument. */
const ATTRIBUTE_NAMES: Readonly<Record<string, string>> = {
  "read-ahead": "getra",
  "filesystem-read-ahead": "getfra",
  "read-only": "getro",
  "read-write": "getro",
};

/** How often, and after how many milliseconds, it is looked for a file system that was just made. */
const LOOKS = 10;
const PAUSE = 3000;

/** What has changed, by argument. */
function changedFlags(given: ValueMap, before: ValueMap, after: ValueMap): ValueMap {
  const changes: ValueMap = new Map();
  for (const [key, value] of given) {
    const attribute = ATTRIBUTE_NAMES[str(key)];
    if (attribute === undefined) continue;
    const both = [before.get(attribute) ?? null, after.get(attribute) ?? null];
    if (equals(both[0], both[1])) continue;
    const [old, now] = both.map((one): Value => {
      const flag = typeof value === "boolean" ? one === "1" : one;
      return key === "read-write" ? !truthy(flag) : flag;
    }).map((one) => typeof one === "string" ? one : repr(one));
    changes.set(key, `Changed from ${old} to ${now}`);
  }
  return changes;
}

export const tuned: ModuleFunction<StateContext> = stateFn({
  doc: `A block device has these settings.

name
    The path of the device.

read-ahead, filesystem-read-ahead
    How far the kernel reads ahead, in sectors of 512 bytes.

read-only, read-write
    Whether the device is read-only, or writable.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  run: async ({ name }, context, { kwargs }) => {
    if (!truthy(await context.call("file.is_blkdev", [name]))) {
      return failState(name, `Changes to ${name} cannot be applied. Not a block device.`);
    }
    if (context.test) return { ...startResult(name, null), comment: `Changes to ${name} will be applied ` };
    const before = await context.call("disk.dump", [name]);
    const after = await context.call("disk.tune", [name], kwargs);
    if (!isMap(before) || !isMap(after) || after.size === 0) {
      return failState(name, `Failed to modify block device ${name}`);
    }
    const changes = changedFlags(kwargs, before, after);
    const comment = changes.size > 0
      ? `Block device ${name} successfully modified `
      : `Block device ${name} already in correct state`;
    return { ...startResult(name), comment, changes };
  },
});

/** The file system on a device; empty if there is none. */
async function fileSystemOn(name: string, context: StateContext): Promise<string> {
  const words = ["blkid", "-o", "value", "-s", "TYPE", name];
  return str(await context.call("cmd.run", [words], map({ ignore_retcode: true })) || "");
}

export const formatted: ModuleFunction<StateContext> = stateFn({
  doc:
    `A device has a file system of this type. A device with another type, or none, is formatted, and its contents are lost.

name
    The path of the device.

fs_type : ext4
    The type.

force : False
    Also format a path that is no block device, or a device with a file system.

Further arguments go to \`disk.format\`.`,
  params: { name: p.str(), fs_type: p.str("ext4"), force: p.any(false) },
  varKwargs: "kwargs",
  run: async ({ name, fs_type, force }, context, { kwargs }) => {
    if (!exists(name)) return failState(name, `${name} does not exist`);
    if (await fileSystemOn(name, context) === fs_type) {
      return { ...startResult(name), comment: `${name} already formatted with ${fs_type}` };
    }
    if (which(`mkfs.${fs_type}`) === undefined) return failState(name, `Invalid fs_type: ${fs_type}`);
    if (context.test) return { ...startResult(name, null), comment: `Changes to ${name} will be applied ` };
    await context.call("disk.format", [name, fs_type], new Map([["force", force], ...kwargs]));
    for (let look = 1; look <= LOOKS; look++) {
      const current = await fileSystemOn(name, context);
      if (current === fs_type) {
        const changes = map({ new: fs_type, old: current });
        return { ...startResult(name), comment: `${name} has been formatted with ${fs_type}`, changes };
      }
      if (current !== "") break;
      await sleep(PAUSE, context.signal);
    }
    return failState(name, `Failed to format ${name}`);
  },
});
