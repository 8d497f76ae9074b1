/**
 * State module `mount`, first part: what is mounted. The table of file systems and swap space are in `tables.ts`.
 * Source: Salt 3008.3 `salt/states/mount.py` mounted, unmounted, mod_watch.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import { activeMounts, entryOf, findDevice, type FoundDevice, shownPath } from "./devices.ts";
import { changedOptions, droppedOptions, type OptionRules, texts } from "./options.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const PARAMS = {
  name: p.str(),
  device: p.str(),
  fstype: p.str(),
  mkmnt: p.bool(false),
  opts: p.any("defaults"),
  dump: p.any(0),
  pass_num: p.any(0),
  config: p.str("/etc/fstab"),
  persist: p.bool(true),
  mount: p.bool(true),
  user: p.str(null),
  match_on: p.any("auto"),
  device_name_regex: p.any(null),
  extra_mount_invisible_options: p.any(null),
  extra_mount_invisible_keys: p.any(null),
  extra_mount_ignore_fs_keys: p.any(null),
  extra_mount_translate_options: p.any(null),
  hidden_opts: p.any(null),
  bind_mount_copy_active_opts: p.bool(true),
};

type Given = Bound<typeof PARAMS>;

/** A list of texts, or a text with commas. */
function optionList(given: Value): string[] {
  return typeof given === "string" ? given.split(",") : texts(given);
}

/** The work of one mount state. */
class Mounting {
  readonly ret: StateResult;
  /** The mount point, without links, and as the kernel shows it. */
  readonly path: string;
  readonly place: string;
  /** Whether the mount is cached for the next run. */
  remembers = false;

  constructor(
    readonly given: Given,
    readonly name: string,
    readonly context: StateContext,
    /** What is mounted now. */
    public active: ValueMap,
    /** The requested options. */
    public opts: string[],
  ) {
    this.ret = startResult(name);
    this.path = realPath(name);
    this.place = shownPath(this.path);
  }

  /** Whether something is mounted there. */
  get isActive(): boolean {
    return this.active.has(this.place);
  }

  /** Ends the state: with a failure, or in test mode with what it would do. */
  end(result: false | null, comment: string): StateResult {
    return { ...this.ret, result, comment };
  }

  async call(fun: string, args: Value[], kwargs: Record<string, Value> = {}): Promise<Value> {
    return await this.context.call(`mount.${fun}`, args, map(kwargs));
  }

  #how(): Record<string, Value> {
    const { mkmnt, fstype } = this.given;
    return { mkmnt, fstype, opts: this.opts };
  }

  /**
   * Remounts with other options.
   * @returns The state's result if that fails.
   * @param tellsLazy Whether the changes report that only a lazy unmount succeeded.
   */
  async remount(why: string, tellsLazy = true): Promise<StateResult | undefined> {
    const { device, fstype } = this.given;
    const isRemounted = !(fstype === "nfs" || fstype === "cvfs" || fstype.startsWith("fuse"));
    if (isRemounted) {
      this.ret.changes.set("umount", `Forced remount because options (${why}) changed`);
      const done = await this.call("remount", [this.path, device], this.#how());
      this.opts = this.opts.filter((one) => one !== "remount");
      return done === true ? undefined : this.end(false, str(done));
    }
    this.ret.changes.set("umount", `Forced unmount and mount because options (${why}) changed`);
    let gone = await this.call("umount", [this.path]);
    if (gone !== true) {
      const lazy = "Forced a lazy unmount and mount because the previous unmount failed and because the options";
      if (tellsLazy) this.ret.changes.set("umount", `${lazy} (${why}) changed`);
      gone = await this.call("umount", [this.path], { lazy: true });
      if (gone !== true) return this.end(false, `Unable to unmount ${this.path}: ${str(gone)}.`);
    }
    const done = await this.call("mount", [this.path, device], this.#how());
    return done === true ? undefined : this.end(false, str(done));
  }
}

/** Remounts an existing mount if its options differ from the requested ones. */
async function settleOptions(mounting: Mounting, device: FoundDevice): Promise<StateResult | undefined> {
  const { given, context, path, active, place } = mounting;
  if (mounting.opts.length === 0) return undefined;
  const entry = entryOf(active, place);
  const rules: OptionRules = { ...given, hidden_opts: given.hidden_opts === null ? [] : optionList(given.hidden_opts) };
  const opts = [...texts(entry.get("opts")), ...device.isBound ? ["bind"] : []];
  const shown = { opts, superopts: texts(entry.get("superopts")) };
  const { changed, last } = await changedOptions(
    mounting.opts,
    { fstype: given.fstype, active: shown, rules },
    context,
  );
  if (changed.length > 0) {
    const why = changed.sort().join(",");
    if (context.test) return mounting.end(null, `Remount would be forced because options (${why}) changed`);
    const ended = await mounting.remount(why);
    if (ended !== undefined) return ended;
    mounting.remembers = true;
  }
  const dropped = await droppedOptions(path, mounting.opts, context);
  if (dropped === undefined || dropped.length > 0) mounting.remembers = true;
  if (dropped === undefined || dropped.length === 0) return undefined;
  // Salt's texts: without a blank here, and with the last option that was looked at when it is done.
  if (context.test) return mounting.end(null, `Remount would be forced because options (${dropped.join(",")})changed`);
  return await mounting.remount(last, false);
}

/** Unmounts an existing mount if its device is not the requested one. */
async function settleDevice(mounting: Mounting, found: FoundDevice): Promise<StateResult | undefined> {
  const { given: { device, user, device_name_regex }, context, ret } = mounting;
  const entry = entryOf(mounting.active, mounting.place);
  const devices = [...found.aliases, str(entry.get("device") ?? "")];
  devices.push(realPath(devices[0]));
  for (const key of ["alt_device", "device_uuid", "device_label"]) {
    const one = entry.get(key);
    if (truthy(one) && !devices.includes(str(one ?? ""))) devices.push(str(one ?? ""));
  }
  if (devices.includes(found.device)) {
    ret.comment = "Target was already mounted";
    return undefined;
  }
  const patterns = texts(device_name_regex).map((pattern) => pythonRegex(pattern));
  const ignored = devices.find((one) => patterns.some((pattern) => pattern.test(one)));
  if (ignored !== undefined) {
    ret.comment = `An umount will not be forced because device matched device_name_regex: ${ignored}`;
    return undefined;
  }
  if (context.test) {
    ret.result = null;
    ret.comment = `An umount would have been forced because devices do not match.  Watched: ${device}`;
    return undefined;
  }
  const real = found.device === device ? "" : ` (${found.device})`;
  ret.changes.set(
    "umount",
    `Forced unmount because devices don't match. Wanted: ${device}${real}, current: ${devices.join(", ")}`,
  );
  await mounting.call("umount", [mounting.path], { user });
  mounting.active = await activeMounts(context);
  if (mounting.isActive) return mounting.end(false, "Unable to unmount");
  mounting.remembers = true;
  return undefined;
}

/** Mounts what is not mounted, or reports why not. */
async function settleMount(mounting: Mounting): Promise<StateResult | undefined> {
  const { given: { device, mkmnt, fstype, mount, user }, name, context: { test, call }, ret } = mounting;
  const there = existsOrThrow(name);
  if (mount) {
    if (test) {
      if (there) return mounting.end(null, `${name} would be mounted`);
      const would = mkmnt ? "would be created and mounted" : "does not exist and would not be created";
      return mounting.end(null, `${name} ${would}`);
    }
    if (!there && !mkmnt) return mounting.end(false, "Mount directory is not present");
    const out = await mounting.call("mount", [name, device, mkmnt, fstype, mounting.opts], { user });
    mounting.active = await activeMounts(mounting.context);
    mounting.remembers = true;
    if (typeof out === "string") return mounting.end(false, out);
    if (!mounting.isActive) return undefined;
    ret.comment = "Target was successfully mounted";
    ret.changes.set("mount", true);
    return undefined;
  }
  if (there) {
    ret.comment = test ? `${name} would not be mounted` : `${name} not mounted`;
  } else if (test) {
    ret.result = null;
    const would = mkmnt
      ? "would be created, but not mounted"
      : "does not exist and would neither be created nor mounted";
    ret.comment = `${name} ${would}`;
  } else if (mkmnt) {
    await call("file.mkdir", [name], map({ user }));
    ret.comment = `${name} was created, not mounted`;
  } else {
    ret.comment = `${name} not present and not mounted`;
  }
  return undefined;
}

/** Adds the mount to the table of file systems. */
async function settleTable(mounting: Mounting): Promise<StateResult> {
  const { given, name, ret, context: { test } } = mounting;
  const { device, fstype, dump, pass_num, config, match_on, mount, mkmnt } = given;
  const args = [name, device, fstype, mounting.opts, dump, pass_num, config];
  const out = await mounting.call("set_fstab", args, { match_on, ...test && { test: true } });
  if (test && out !== "present") {
    const is = mount ? `${name} is mounted, but ` : "";
    const comment = out === "new"
      ? `${is === "" ? `${name} ` : is}needs to be written to the fstab in order to be made persistent.`
      : out === "change"
      ? is === "" ? `The ${name} fstab entry must be updated.` : `${is}its fstab entry must be updated.`
      : `Unable to detect fstab status for mount point ${name} due to unexpected output '${str(out)}' from call to ` +
        "mount.set_fstab. This is most likely a bug.";
    return mounting.end(out === "new" || out === "change" ? null : false, `${str(ret.comment)}. ${comment}`);
  }
  if (mounting.remembers && !test) {
    await mounting.call("write_mount_cache", [mounting.path, device], { mkmnt, fstype, mount_opts: mounting.opts });
  }
  const persisted = PERSISTED[str(out)];
  if (persisted === undefined) return ret;
  if (persisted.change !== undefined) ret.changes.set("persist", persisted.change);
  return {
    ...ret,
    result: persisted.fails ? false : ret.result,
    comment: `${str(ret.comment)}. ${persisted.comment}`,
  };
}

/** The results of mount.set_fstab, and their texts. */
const PERSISTED: Readonly<Record<string, { comment: string; change?: string; fails?: boolean } | undefined>> = {
  present: { comment: "Entry already exists in the fstab." },
  new: { comment: "Added new entry to the fstab.", change: "new" },
  change: { comment: "Updated the entry in the fstab.", change: "update" },
  "bad config": { comment: "However, the fstab was not found.", fails: true },
};

export const mounted: ModuleFunction<StateContext> = stateFn({
  doc: `A device is mounted, now and at each boot.

name
    Where.

device
    The device: a path, \`UUID=…\`, \`LABEL=…\`, or what the file system takes.

fstype
    The file system.

mkmnt : False
    Whether a missing mount point is created.

opts : defaults
    Options: a list, or a text with commas.

dump, pass_num : 0
    The last fields of the table's line.

config : /etc/fstab
    The table.

persist : True
    Whether it is added to the table.

mount : True
    Whether it is mounted now.

user
    Who runs \`mount\`.

match_on : auto
    Which fields of a line say that it is this one: name, device, fstype or a list of them.

device_name_regex
    Regular expressions for other devices that count as this one and are not unmounted.

extra_mount_invisible_options, extra_mount_invisible_keys, hidden_opts
    Additional options that the kernel does not show, so that they force no remount; keys of such options with values.

extra_mount_ignore_fs_keys
    Additional options that force no remount, by file system.

extra_mount_translate_options
    Additional options that the kernel shows under another name.

bind_mount_copy_active_opts : True
    Whether a bind mount gets the options of its source.`,
  params: PARAMS,
  varKwargs: "kwargs",
  run: async (given, context) => {
    const missing = (["name", "device", "fstype"] as const).find((key) => given[key] === "");
    if (missing !== undefined) return failState(given.name, `Must provide ${missing} to mount.mounted`);
    const name = given.name === "/" ? "/" : rstripChars(given.name, "/");
    const mounting = new Mounting(given, name, context, await activeMounts(context), optionList(given.opts));
    const { place, active, opts } = mounting;
    const copiesOptions = given.bind_mount_copy_active_opts;
    const device = await findDevice({ device: given.device, opts, place, active, copiesOptions }, context);
    if (typeof device === "string") return { ...mounting.end(false, device), name: given.name };
    mounting.opts = [...device.opts];
    const steps = [
      ...mounting.isActive && given.mount
        ? [() => settleOptions(mounting, device), () => settleDevice(mounting, device)]
        : [],
      () => mounting.isActive ? undefined : settleMount(mounting),
    ];
    for (const step of steps) {
      const ended = await step();
      if (ended !== undefined) return { ...ended, name: given.name };
    }
    return { ...given.persist ? await settleTable(mounting) : mounting.ret, name: given.name };
  },
});

export const unmounted: ModuleFunction<StateContext> = stateFn({
  doc: `Nothing is mounted at a mount point.

name
    Where.

device
    The device that must not be there. Default: any.

config : /etc/fstab
    The table.

persist : False
    Whether it is removed from the table.

user
    Who runs \`umount\`.`,
  params: {
    name: p.str(),
    device: p.str(null),
    config: p.str("/etc/fstab"),
    persist: p.bool(false),
    user: p.str(null),
  },
  varKwargs: "kwargs",
  run: async ({ name, device, config, persist, user }, context) => {
    if (name === "") return failState(name, "Must provide name to mount.unmounted");
    const ret = startResult(name);
    ret.comment = "Target was already unmounted";
    if ((await activeMounts(context)).has(shownPath(name))) {
      if (context.test) {
        return { ...ret, result: null, comment: `Mount point ${name} is mounted but should not be` };
      }
      const out = await context.call("mount.umount", device ? [name, device] : [name], map({ user }));
      ret.result = typeof out !== "string";
      ret.comment = typeof out === "string"
        ? out
        : out === true
        ? "Target was successfully unmounted"
        : "Execute set to False, Target was not unmounted";
      if (out === true) ret.changes.set("umount", true);
      await context.call("mount.delete_mount_cache", [name]);
    }
    return persist ? await purge({ name, device, config }, ret, context) : ret;
  },
});

/** Removes a mount from the table of file systems. */
async function purge(
  { name, device, config }: { readonly name: string; readonly device: string | null; readonly config: string },
  ret: StateResult,
  context: StateContext,
): Promise<StateResult> {
  const withComment = (what: string) => `${str(ret.comment)}. ${what}`;
  const table = await context.call("mount.fstab", [config]);
  const entry = table instanceof Map && table.has(name) ? entryOf(table, name) : undefined;
  if (entry === undefined) return { ...ret, comment: withComment("fstab entry not found") };
  if (device && entry.get("device") !== device) {
    return { ...ret, comment: withComment(`fstab entry for device ${device} not found`) };
  }
  if (context.test) {
    const comment = `Mount point ${name} is unmounted but needs to be purged from ${config} to be made persistent`;
    return { ...ret, result: null, comment };
  }
  if (await context.call("mount.rm_fstab", [name, device, config]) !== true) {
    return { ...ret, result: false, comment: withComment("Failed to persist purge") };
  }
  ret.changes.set("persist", "purged");
  return { ...ret, comment: withComment("Removed target from fstab") };
}

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: "Remount because a watched state has changes.",
  params: { name: p.str(), user: p.str(null) },
  varKwargs: "kwargs",
  run: async ({ name, user }, context, { kwargs }) => {
    const sfun = str(kwargs.get("sfun") ?? null);
    if (sfun !== "mounted") return { ...startResult(name), comment: `Watch not supported in ${sfun} at this time` };
    const [device, fstype] = ["device", "fstype"].map((key) => kwargs.get(key) ?? null);
    const args = [name, device, false, fstype, kwargs.get("opts") ?? "defaults"];
    const out = await context.call("mount.remount", args, map({ user }));
    // An error of mount is no success, although Salt treats it as one.
    if (out === true) return { ...startResult(name), comment: `${name} remounted` };
    return failState(name, `${name} failed to remount: ${str(out)}`);
  },
});
