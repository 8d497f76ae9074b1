/**
 * State module `mount`, second part: the table of file systems, and swap space.
 * Source: Salt 3008.3 `salt/states/mount.py` swap, fstab_present, fstab_absent.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { baseName } from "#lib/os/paths.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

async function mapFrom(context: StateContext, fun: string, args: Value[] = []): Promise<ValueMap> {
  return mapOrEmpty(await context.call(fun, args));
}

export const swap: ModuleFunction<StateContext> = stateFn({
  doc: `A swap space is in use, now and at each boot.

name
    Its device or file.

persist : True
    Whether it is added to the table of file systems.

config : /etc/fstab
    The table.`,
  params: { name: p.str(), persist: p.bool(true), config: p.str("/etc/fstab") },
  run: async ({ name, persist, config }, context) => {
    const ret = startResult(name);
    let on = await mapFrom(context, "mount.swaps");
    const device = await swapDevice(name, context);
    if (on.has(device)) ret.comment = `Swap ${name} already active`;
    else if (context.test) {
      ret.result = null;
      ret.comment = `Swap ${name} is set to be activated`;
    } else {
      await context.call("mount.swapon", [device]);
      on = await mapFrom(context, "mount.swaps");
      const used = on.get(device);
      ret.result = used !== undefined;
      ret.comment = used === undefined ? `Swap ${name} failed to activate` : `Swap ${name} activated`;
      if (isMap(used)) ret.changes = new Map(used);
    }
    return persist ? await persistSwap({ name, config, isOn: on.has(name) }, ret, context) : ret;
  },
});

/** Where a link leads. */
async function swapDevice(name: string, context: StateContext): Promise<string> {
  if (!truthy(await context.call("file.is_link", [name]))) return name;
  const target = str(await context.call("file.readlink", [name]));
  return target.startsWith("/") ? target : `/dev/${baseName(target)}`;
}

async function persistSwap(
  { name, config, isOn }: { readonly name: string; readonly config: string; readonly isOn: boolean },
  ret: StateResult,
  context: StateContext,
): Promise<StateResult> {
  const table = await mapFrom(context, "mount.fstab", [config]);
  const entries = [...table.values()].filter(isMap);
  if (context.test) {
    if (table.has(name) || entries.some((entry) => entry.get("device") === name)) return ret;
    const comment = isOn ? `Swap ${name} is set to be added to the fstab and to be activated` : ret.comment;
    return { ...ret, result: null, comment };
  }
  const none = table.get("none");
  // A line of another file system that is mounted nowhere is left alone.
  if (isMap(none) && none.get("device") === name && none.get("fstype") !== "swap") return ret;
  const out = await context.call("mount.set_fstab", ["none", name, "swap", ["defaults"], 0, 0, config]);
  const withComment = (what: string) => `${str(ret.comment)}. ${what}`;
  if (out === "new" || out === "change") {
    ret.changes.set("persist", out === "new" ? "new" : "update");
    return {
      ...ret,
      comment: withComment(out === "new" ? "Added new entry to the fstab." : "Updated the entry in the fstab."),
    };
  }
  if (out === "bad config") return { ...ret, result: false, comment: withComment("However, the fstab was not found.") };
  return ret;
}

/** A device under another of its names: as `device`, or by its `uuid`, `label` and so on. */
async function convertDevice(device: string, to: string | null, context: StateContext): Promise<string | undefined> {
  if (!to || (to === "device" && device.startsWith("/")) || device.startsWith(`${to.toUpperCase()}=`)) return device;
  const blkid = device.startsWith("/")
    ? await context.call("disk.blkid", [device])
    : await context.call("disk.blkid", [], map({ token: device }));
  if (!isMap(blkid) || blkid.size !== 1) return undefined;
  const [[name, fields]] = [...blkid];
  if (to === "device") return str(name);
  const key = to.toUpperCase();
  return `${key}=${str(isMap(fields) ? fields.get(key) ?? null : null)}`;
}

function place(path: string): string {
  return path === "/" ? "/" : rstripChars(path, "/");
}

export const fstab_present: ModuleFunction<StateContext> = stateFn({
  doc: `The table of file systems has this entry.

name
    The device.

fs_file
    Where it is mounted.

fs_vfstype
    The file system.

fs_mntops : defaults
    Options.

fs_freq, fs_passno : 0
    The last fields of the line.

mount_by
    The name of the device in the line: device, label, uuid, partlabel or partuuid. Default: as given.

config : /etc/fstab
    The table.

mount : True
    Whether a new line is mounted.

match_on : auto
    Which fields identify the entry.

not_change : False
    Whether an existing entry is left unchanged.

fs_mount : True
    For AIX.`,
  params: {
    name: p.str(),
    fs_file: p.str(),
    fs_vfstype: p.str(),
    fs_mntops: p.any("defaults"),
    fs_freq: p.any(0),
    fs_passno: p.any(0),
    mount_by: p.str(null),
    config: p.str("/etc/fstab"),
    mount: p.bool(true),
    match_on: p.any("auto"),
    not_change: p.bool(false),
    fs_mount: p.bool(true),
  },
  run: async ({ name, fs_file, mount_by, config, mount, match_on, not_change, ...line }, context) => {
    const file = place(fs_file);
    const device = await convertDevice(name, mount_by, context);
    if (!device) {
      const comment = [`Device ${name} cannot be converted to ${str(mount_by)}`];
      return { ...startResult(name, false), comment };
    }
    const kwargs = map({
      name: file,
      device,
      fstype: line.fs_vfstype,
      opts: line.fs_mntops,
      dump: line.fs_freq,
      pass_num: line.fs_passno,
      config,
      match_on,
      not_change,
      ...context.test && { test: true },
    });
    const out = await context.call("mount.set_fstab", [], kwargs);
    return context.test
      ? predictLine({ name, file, config, mount }, out)
      : await reportLine({ name, file, config, mount }, out, context);
  },
});

interface Line {
  readonly name: string;
  readonly file: string;
  readonly config: string;
  readonly mount: boolean;
}

function predictLine({ name, file, config, mount }: Line, out: Value): StateResult {
  const ret = (result: boolean | null, ...comment: string[]) => ({ ...startResult(name, result), comment });
  switch (out) {
    case "present":
      return ret(true, `${file} entry is already in ${config}.`);
    case "new":
      return ret(
        null,
        `${file} entry will be written in ${config}.`,
        ...mount ? [`Will mount ${name} on ${file}`] : [],
      );
    case "change":
      return ret(null, `${file} entry will be updated in ${config}.`);
    default:
      return ret(false, `${file} entry cannot be created in ${config}: ${str(out)}.`);
  }
}

async function reportLine(
  { name, file, config, mount }: Line,
  out: Value,
  context: StateContext,
): Promise<StateResult> {
  const ret = (result: boolean, comment: string[]) => ({ ...startResult(name, result), comment });
  if (out === "present") return ret(true, [`${file} entry was already in ${config}.`]);
  if (out === "change") {
    return { ...ret(true, [`${file} entry updated in ${config}.`]), changes: map({ persist: out }) };
  }
  if (out !== "new") return ret(false, [`${file} entry cannot be changed in ${config}: ${str(out)}.`]);
  const changes = map({ persist: out });
  const added = `${file} entry added in ${config}.`;
  if (!mount) return { ...ret(true, [added]), changes };
  const mounted = await context.call("mount.mount", [file]);
  if (typeof mounted !== "string") return { ...ret(true, [added, `Mounted ${name} on ${file}`]), changes };
  const reason = mounted.slice(mounted.indexOf(":") + 1);
  return { ...ret(false, [added, `Error while mounting ${reason}`]), changes };
}

export const fstab_absent: ModuleFunction<StateContext> = stateFn({
  doc: `The table of file systems does not have this entry.

name
    The device.

fs_file
    Where it is mounted.

mount_by
    The name of the device in the line: device, label, uuid, partlabel or partuuid. Default: as given.

config : /etc/fstab
    The table.`,
  params: { name: p.str(), fs_file: p.str(), mount_by: p.str(null), config: p.str("/etc/fstab") },
  run: async ({ name, fs_file, mount_by, config }, context) => {
    const ret = (result: boolean | null, comment: string) => ({ ...startResult(name, result), comment: [comment] });
    const file = place(fs_file);
    const device = await convertDevice(name, mount_by, context);
    const table = await mapFrom(context, "mount.fstab", [config]);
    if (!table.has(file)) return ret(context.test ? null : true, `${file} entry is already missing in ${config}.`);
    if (context.test) return ret(null, `${file} entry will be removed from ${config}.`);
    const removed = await context.call("mount.rm_fstab", [], map({ name: file, device: device ?? null, config }));
    if (removed !== true) return ret(false, `${file} entry failed when removing from ${config}.`);
    return { ...ret(true, `${file} entry removed from ${config}.`), changes: map({ persist: "removed" }) };
  },
});
