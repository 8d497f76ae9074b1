/**
 * State module `lvm`: physical volumes, volume groups and logical volumes.
 * Source: Salt 3008.3 `salt/states/lvm.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["lvm"], otherwise: "lvm command not found" }],
};

const QUIET: ValueMap = new Map([["quiet", true]]);

/** The data of `name` from a command that shows volumes; an empty map: it does not exist. */
async function propertiesOf(
  command: "pvdisplay" | "vgdisplay" | "lvdisplay",
  name: string,
  context: StateContext,
  kwargs: ValueMap = QUIET,
): Promise<ValueMap> {
  return mapOrEmpty(await context.call(`lvm.${command}`, [name], kwargs));
}

/** The name of a volume or volume group in texts. */
interface Thing {
  readonly name: string;
  /** `Physical Volume`. */
  readonly kind: string;
  /**
   * Whether it is there now.
   * @param quiet Whether its absence is not an error in the log.
   */
  readonly isThere: (quiet: boolean) => Promise<boolean>;
}

/** Creates what is missing. */
async function makeVolume({ name, kind, isThere }: Thing, make: () => Promise<Value>, context: StateContext) {
  if (context.test) return { ...startResult(name, null), comment: `${kind} ${name} is set to be created` };
  const created = await make();
  if (!await isThere(false)) return failState(name, `Failed to create ${kind} ${name}`);
  return { ...startResult(name), comment: `Created ${kind} ${name}`, changes: map({ created }) };
}

/**
 * Removes an existing object.
 * @param gone Salt's word for a missing one.
 */
async function removeVolume(
  { name, kind, isThere }: Thing,
  { gone, remove }: { readonly gone: string; readonly remove: () => Promise<Value> },
  context: StateContext,
): Promise<StateResult> {
  if (!await isThere(true)) return { ...startResult(name), comment: `${kind} ${name} ${gone}` };
  if (context.test) return { ...startResult(name, null), comment: `${kind} ${name} is set to be removed` };
  const changes = await remove();
  if (await isThere(true)) return failState(name, `Failed to remove ${kind} ${name}`);
  return { ...startResult(name), comment: `Removed ${kind} ${name}`, changes: map({ removed: changes }) };
}

function physical(name: string, context: StateContext): Thing {
  const isThere = async (quiet: boolean) =>
    (await propertiesOf("pvdisplay", name, context, quiet ? QUIET : new Map())).size > 0;
  return { name, kind: "Physical Volume", isThere };
}

export const pv_present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a device is a physical volume.\n\nname\n    The device.\n\nAll other arguments are those of `lvm.pvcreate`.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name }, context, { kwargs }) {
    const volume = physical(name, context);
    if (await volume.isThere(true)) return { ...startResult(name), comment: `Physical Volume ${name} already present` };
    return await makeVolume(volume, () => context.call("lvm.pvcreate", [name], kwargs), context);
  },
});

export const pv_absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a device is no physical volume.\n\nname\n    The device.",
  params: { name: p.str() },
  run: ({ name }, context) =>
    removeVolume(physical(name, context), {
      gone: "does not exist",
      remove: () => context.call("lvm.pvremove", [name]),
    }, context),
});

function group(name: string, context: StateContext): Thing {
  const isThere = async (quiet: boolean) =>
    (await propertiesOf("vgdisplay", name, context, quiet ? QUIET : new Map())).size > 0;
  return { name, kind: "Volume Group", isThere };
}

/** The group of a physical volume; `undefined` if the device is none. */
async function groupOf(device: string, context: StateContext): Promise<string | undefined> {
  const properties = (await propertiesOf("pvdisplay", device, context, map({ real: true }))).get(device);
  return isMap(properties) ? str(properties.get("Volume Group Name") ?? "") : undefined;
}

/** Names of the group of a volume without a group. */
const NO_GROUP = ["", "#orphans_lvm2"];

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

/** Adds the devices to an existing group. */
async function extendGroup(name: string, devices: readonly string[], context: StateContext): Promise<StateResult> {
  const result = startResult(name);
  const comments = [`Volume Group ${name} already present`];
  const say = (comment: string, isGood: boolean) => {
    comments.push(comment);
    if (!isGood) result.result = false;
  };
  for (const device of devices) {
    const real = realPath(device);
    const current = await groupOf(real, context);
    if (current === undefined) say(`pv ${device} is not present`, false);
    else if (current === name) say(`${device} is part of Volume Group`, true);
    else if (!NO_GROUP.includes(current)) say(`${device} is part of ${current}`, false);
    else if (context.test) {
      say(`${device} is set to be added`, true);
      result.changes.set(device, `added to ${name}`);
      if (result.result === true) result.result = null;
    } else {
      await context.call("lvm.vgextend", [name, device]);
      if (await groupOf(real, context) === name) result.changes.set(device, `added to ${name}`);
      else say(`${device} could not be added`, false);
    }
  }
  return { ...result, comment: comments.join("\n") };
}

export const vg_present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a volume group exists and contains devices.\n\nname\n    The group.\n\ndevices\n    A list, or a text with " +
    "commas.\n\nAll other arguments are those of `lvm.vgcreate`.",
  params: { name: p.str(), devices: p.any(null) },
  varKwargs: "kwargs",
  async run({ name, devices }, context, { kwargs }) {
    const given = typeof devices === "string" ? devices.split(",") : devices;
    const list = listOrEmpty(given).map(str);
    const volumes = group(name, context);
    if (await volumes.isThere(true)) return await extendGroup(name, list, context);
    return await makeVolume(volumes, () => context.call("lvm.vgcreate", [name, given], kwargs), context);
  },
});

export const vg_absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a volume group does not exist.\n\nname\n    The group.",
  params: { name: p.str() },
  run: ({ name }, context) =>
    removeVolume(
      group(name, context),
      { gone: "already absent", remove: () => context.call("lvm.vgremove", [name]) },
      context,
    ),
});

/** The size of a unit in megabytes. */
const UNITS: Readonly<Record<string, number>> = { s: 1 / 2048, m: 1, g: 1024, t: 1024 ** 2, p: 1024 ** 3 };

/**
 * The megabytes of a size like `1G` or `512mb`; a number alone is megabytes.
 * @throws {InvocationError} If it is none.
 */
function megabytes(size: Value): number {
  const [, number, unit] = /^(\d*)([^\d]*)$/.exec(str(size).toLowerCase()) ?? [];
  if (number === undefined || number === "") throw new InvocationError(`Size ${str(size)} is invalid.`);
  const letter = unit === "" ? "m" : unit.length === 2 && unit.endsWith("b") ? unit[0] : unit;
  if (!Object.hasOwn(UNITS, letter)) throw new InvocationError(`Unit ${letter} is invalid.`);
  return Number(number) * UNITS[letter];
}

/** Changes the size of an existing logical volume. */
async function resizeVolume(
  { name, path, volume, size, extents, resizefs, force }: {
    readonly name: string;
    readonly path: string;
    readonly volume: ValueMap;
    readonly size: Value;
    readonly extents: Value;
    readonly resizefs: boolean;
    readonly force: boolean;
  },
  context: StateContext,
): Promise<StateResult> {
  const there: StateResult = { ...startResult(name), comment: `Logical Volume ${name} already present` };
  if (!truthy(size) && !truthy(extents)) return there;
  const bytes = (one: ValueMap) => megabytes(`${str(one.get("Logical Volume Size") ?? "")}s`);
  const old = { extents: toNumber(volume.get("Current Logical Extents Associated")) ?? 0, mb: bytes(volume) };
  if (typeof volume.get("Current Logical Extents Associated") === "string") {
    old.extents = Number(volume.get("Current Logical Extents Associated"));
  }
  if (!truthy(size) && str(extents).includes("%")) {
    return { ...there, comment: `Logical Volume ${name} already present, ${str(extents)} won't be resized.` };
  }
  const wanted = truthy(size)
    ? { extents: old.extents, mb: megabytes(size) }
    : { extents: Number(str(extents)), mb: old.mb };
  if (!force && (wanted.mb < old.mb || wanted.extents < old.extents)) {
    return failState(name, "To reduce a Logical Volume option 'force' must be True.");
  }
  if (wanted.mb === old.mb && wanted.extents === old.extents) return there;
  if (context.test) return { ...startResult(name, null), comment: `Logical Volume ${name} is set to be resized` };
  const how = truthy(size) ? { lvpath: path, size } : { lvpath: path, extents };
  const answer = await context.call("lvm.lvresize", [], map({ ...how, resizefs, force }));
  const now = (await propertiesOf("lvdisplay", path, context)).get(path);
  if (isMap(now) && bytes(now) !== old.mb) {
    return { ...startResult(name), comment: `Resized Logical Volume ${name}`, changes: map({ resized: answer }) };
  }
  const message = isMap(answer) ? str(answer.get("Output from lvresize") ?? "") : "";
  return failState(name, `Failed to resize Logical Volume ${name}.\nError: ${message}`);
}

export const lv_present: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a logical volume with a size exists.\n\nname\n    The volume.\n\nvgname\n    Its group; for a thin volume: group/pool.\n\n" +
    "size, extents\n    Its size, like 10G, or its extents, like 100%FREE: one of them.\n\nsnapshot\n    The volume to " +
    "snapshot.\n\npv\n    The physical volume to use.\n\nthinvolume, thinpool\n    Whether it is a thin volume, or a thin pool.\n\nforce\n    " +
    "Whether it may shrink.\n\nresizefs\n    Whether the file system on it is resized, too.\n\nAll other arguments are those of " +
    "`lvm.lvcreate`.",
  params: {
    name: p.str(),
    vgname: p.str(null),
    size: p.any(null),
    extents: p.any(null),
    snapshot: p.str(null),
    pv: p.str(""),
    thinvolume: p.bool(false),
    thinpool: p.bool(false),
    force: p.bool(false),
    resizefs: p.bool(false),
  },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    const { vgname, size, extents, snapshot, pv, thinvolume, thinpool, force, resizefs } = bound;
    if (truthy(extents) && truthy(size)) return failState(bound.name, "Only one of extents or size can be specified.");
    if (truthy(size)) megabytes(size);
    const name = snapshot || bound.name;
    const owner = vgname ?? "None";
    const path = `/dev/${thinvolume ? owner.split("/")[0] : owner}/${name}`;
    const volume = (await propertiesOf("lvdisplay", path, context)).get(path);
    const withOwnName = (result: StateResult): StateResult => ({ ...result, name: bound.name });
    if (isMap(volume) && volume.size > 0) {
      return withOwnName(await resizeVolume({ name, path, volume, size, extents, resizefs, force }, context));
    }
    if (context.test) {
      return withOwnName({ ...startResult(name, null), comment: `Logical Volume ${name} is set to be created` });
    }
    const options = { size, extents, snapshot: snapshot ? bound.name : null, pv, thinvolume, thinpool, force };
    const created = await context.call("lvm.lvcreate", [name, vgname], new Map([...map(options), ...kwargs]));
    if ((await propertiesOf("lvdisplay", path, context, new Map())).size > 0) {
      return withOwnName({
        ...startResult(name),
        comment: `Created Logical Volume ${name}`,
        changes: map({ created }),
      });
    }
    const message = isMap(created) ? str(created.get("Output from lvcreate") ?? "") : str(created);
    return withOwnName(failState(name, `Failed to create Logical Volume ${name}. Error: ${message}`));
  },
});

export const lv_absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a logical volume does not exist.\n\nname\n    The volume.\n\nvgname\n    Its group.",
  params: { name: p.str(), vgname: p.str(null) },
  run({ name, vgname }, context) {
    const path = `/dev/${vgname ?? "None"}/${name}`;
    const isThere = async () => (await propertiesOf("lvdisplay", path, context)).size > 0;
    const remove = () => context.call("lvm.lvremove", [name, vgname]);
    return removeVolume({ name, kind: "Logical Volume", isThere }, { gone: "already absent", remove }, context);
  },
});
