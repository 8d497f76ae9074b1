/**
 * Execution module `mount`: what is mounted and what swaps now. Its functions for tables of mounts are in `tables.ts`.
 * Source: the functions of Salt 3008.3 `salt/modules/mount.py` for Linux.
 * @module
 */

import { runTool } from "#modules/execution/_file_host.ts";
import { CommandError, CommandNotFoundError, messageOf } from "#lib/errors.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { absolutePath } from "#lib/os/paths.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isFile, lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import {
  mountPointOf,
  parseActiveMounts,
  parseMountInfo,
  parseMountList,
  parseSwaps,
  type Swap,
} from "#lib/host/storage/mounts.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Options with the numbers of users and groups in place of their names. */
async function numberOwners(opts: readonly string[], { call }: JobContext): Promise<string[]> {
  return await Promise.all(opts.map(async (opt) => {
    const [, kind, who] = /^(uid|gid)=(.*)$/.exec(opt) ?? [];
    if (kind === undefined || /^\d+$/.test(who)) return opt;
    const info = await call(kind === "uid" ? "user.info" : "group.info", [who]);
    const id = isMap(info) ? info.get(kind) : undefined;
    return `${kind}=${id === undefined ? who : str(id)}`;
  }));
}

async function activeMounts(extended: boolean, context: JobContext): Promise<Map<string, Record<string, unknown>>> {
  const mountList = parseMountList((await runTool(context, ["mount", "-l"])).stdout);
  const alt = (place: string) => mountList.get(place) ?? null;
  const mounts = new Map<string, Record<string, unknown>>();
  if (!extended) {
    for (const [place, { device, fstype, opts }] of parseActiveMounts(Deno.readTextFileSync("/proc/self/mounts"))) {
      mounts.set(place, { device, alt_device: alt(place), fstype, opts: await numberOwners(opts, context) });
    }
    return mounts;
  }
  const devices = await context.call("disk.blkid");
  for (const [place, info] of parseMountInfo(Deno.readTextFileSync("/proc/self/mountinfo"))) {
    const names = isMap(devices) ? devices.get(info.device) ?? null : null;
    const label = (name: string) => isMap(names) ? names.get(name) ?? null : null;
    const uuid = label("UUID");
    mounts.set(place, {
      ...info,
      opts: await numberOwners(info.opts, context),
      alt_device: alt(place),
      superopts: await numberOwners(info.superopts, context),
      device_uuid: typeof uuid === "string" ? uuid.toLowerCase() : uuid,
      device_label: label("LABEL"),
    });
  }
  return mounts;
}

export const active: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the mounted file systems, by mount point: device, type and options; with extended=True, also the numbers, UUID and label of the\n" +
      "device.",
    "mount.active",
  ),
  permissions: "all",
  params: { extended: p.bool(false) },
  run: ({ extended }, context) => activeMounts(extended, context),
});

export const is_mounted: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether something is mounted at a mount point.", "mount.is_mounted /mnt/share"),
  permissions: "all",
  params: { name: p.str() },
  run: async ({ name }, context) => (await activeMounts(false, context)).has(name),
});

/**
 * Runs `mount` or `umount`.
 * @returns True, or its error text.
 */
async function runMount(
  { words, password }: { readonly words: readonly string[]; readonly password?: string },
  user: string | null,
  context: JobContext,
): Promise<true | string> {
  const env = password === undefined ? [] : [["env", map({ PASSWD: password })] as const];
  const { retcode, stderr } = await runTool(context, words, { more: new Map<Value, Value>([["runas", user], ...env]) });
  return retcode === 0 ? true : stderr;
}

interface MountArguments {
  readonly name: string;
  readonly device: Value;
  readonly mkmnt: boolean;
  readonly fstype: string;
  readonly opts: Value;
  readonly user: string | null;
}

function optionList(opts: Value): string[] | undefined {
  return opts === null ? undefined : Array.isArray(opts) ? opts.map(str) : str(opts).split(",");
}

/** File systems whose mount program reads a password from its environment, where not every process can read it. */
const WITH_PASSWORD: readonly string[] = ["cifs", "smb3"];

function mountCall(
  { name, device, fstype }: MountArguments,
  opts: readonly string[] | undefined,
): { readonly words: readonly string[]; readonly password?: string } {
  const place = checkedWord(name, "name");
  if (!truthy(device)) return { words: ["mount", place] };
  const secret = WITH_PASSWORD.includes(fstype) ? opts?.find((opt) => /^(password|pass)=./.test(opt)) : undefined;
  const shownOpts = opts?.filter((opt) => opt !== secret);
  const words = [
    "mount",
    ...shownOpts === undefined || shownOpts.length === 0 ? [] : ["-o", checkedWord(shownOpts.join(","), "options")],
    ...fstype === "" ? [] : ["-t", checkedWord(fstype, "type")],
    checkedWord(str(device), "device"),
    place,
  ];
  return secret === undefined ? { words } : { words, password: secret.slice(secret.indexOf("=") + 1) };
}

async function mountNow(given: MountArguments, context: JobContext): Promise<true | string> {
  if (!lexists(given.name) && given.mkmnt) {
    await context.call("file.mkdir", [given.name], new Map([["user", given.user]]));
  }
  return await runMount(mountCall(given, optionList(given.opts)), given.user, context);
}

const MOUNTING = { mkmnt: p.bool(false), fstype: p.str(""), opts: p.any("defaults"), user: p.str(null) };

export const mount: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Mount a device; mkmnt=True creates the mount point. Return True, or the error of `mount`.",
    "mount.mount /mnt/foo /dev/sdz1 True",
  ),
  permissions: "all",
  params: { name: p.str(), device: p.any(false), ...MOUNTING, util: p.str("mount") },
  async run({ util, ...given }, context) {
    if (util === "guestfs") return await context.call("guestfs.mount", [given.name], map({ root: given.device }));
    if (util === "qemu_nbd") {
      const device = await context.call("qemu_nbd.init", [given.name, given.device]);
      return isMap(device) && device.size > 0 ? [...device.keys()][0] : false;
    }
    return util === "mount" ? await mountNow(given, context) : false;
  },
});

export const remount: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remount a mount point with other options; mount it if it is not mounted.",
    "mount.remount /mnt/foo /dev/sdz1 True",
  ),
  permissions: "all",
  params: { name: p.str(), device: p.any(), ...MOUNTING },
  async run(given, context) {
    if (!(await activeMounts(false, context)).has(given.name)) return await mountNow(given, context);
    const opts = optionList(given.opts) ?? [];
    return await runMount(
      mountCall(given, opts.includes("remount") ? opts : [...opts, "remount"]),
      given.user,
      context,
    );
  },
});

export const umount: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Unmount a mount point or a device; lazy=True unmounts it when it is no longer used. Return True, or the error of\n" +
      "`umount`.",
    "mount.umount /mnt/foo",
    "mount.umount /mnt/foo /dev/xvdc1",
  ),
  permissions: "all",
  params: { name: p.str(), device: p.str(null), user: p.str(null), util: p.str("mount"), lazy: p.bool(false) },
  async run({ name, device, user, util, lazy }, context) {
    if (util === "guestfs") {
      await context.call("guestfs.umount", [name], map({ disk: device }));
      return null;
    }
    if (!(await activeMounts(false, context)).has(name)) return `${name} does not have anything mounted`;
    const words = ["umount", ...lazy ? ["-l"] : [], checkedWord(device || name, "name")];
    return await runMount({ words }, user, context);
  },
});

export const is_fuse_exec: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a program is linked with libfuse.", "mount.is_fuse_exec sshfs"),
  permissions: "all",
  params: { cmd: p.str() },
  async run({ cmd }, context) {
    const path = which(cmd);
    if (path === undefined) return false;
    if (which("ldd") === undefined) throw new CommandNotFoundError("ldd");
    return (await runTool(context, ["ldd", path], { joined: true })).stdout.includes("libfuse");
  },
});

function swapSpace(): Map<string, Swap> {
  return parseSwaps(Deno.readTextFileSync("/proc/swaps"));
}

export const swaps: ModuleFunction<JobContext> = fn({
  doc: describe("Return the swap space in use: type, size, use and priority, by its file.", "mount.swaps"),
  permissions: "all",
  params: {},
  run: () => swapSpace(),
});

export const swapon: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Enable swapping on a file or device. Return its `stats`, and whether it is `new`.",
    "mount.swapon /root/swapfile",
  ),
  permissions: "all",
  params: { name: p.str(), priority: p.any(null) },
  async run({ name, priority }, context) {
    const before = swapSpace().get(name);
    if (before !== undefined) return { stats: { ...before }, new: false };
    const order = truthy(priority) ? ["-p", checkedWord(str(priority), "priority")] : [];
    await runTool(context, ["swapon", checkedWord(name, "name"), ...order], { joined: true });
    const stats = swapSpace().get(name);
    return stats === undefined ? {} : { stats: { ...stats }, new: true };
  },
});

export const swapoff: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Disable swapping on a file or device. Return whether this was done; None if it was not used.",
    "mount.swapoff /root/swapfile",
  ),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    if (!swapSpace().has(name)) return null;
    await runTool(context, ["swapoff", checkedWord(name, "name")], { joined: true });
    return !swapSpace().has(name);
  },
});

export const get_mount_from_path: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return where the file system of a path is mounted.",
    "mount.get_mount_from_path /opt/some/nested/path",
  ),
  permissions: "all",
  params: { path: p.str() },
  run: ({ path }) => mountPointOf(realPath(absolutePath(path))),
});

export const get_device_from_path: ModuleFunction<JobContext> = fn({
  doc: describe("Return the device of a path's file system; None if it is not known.", "mount.get_device_from_path /"),
  permissions: "all",
  params: { path: p.str() },
  run: async ({ path }, context) =>
    (await activeMounts(false, context)).get(mountPointOf(realPath(absolutePath(path))))?.device ?? null,
});

/** The file in which states note how they mounted something. */
function cacheFile({ opts }: JobContext): string {
  return `${opts.cachedir}/mounts`;
}

/** The notes; none if there is no file. */
function readCache(context: JobContext): ValueMap {
  const path = cacheFile(context);
  return mapOrEmpty(isFile(path) ? loadYaml(Deno.readTextFileSync(path)) : null);
}

function cachedMounts(cache: ValueMap): ValueMap {
  return mapOrEmpty(cache.get("mounts"));
}

function writeCache(cache: ValueMap, context: JobContext): void {
  try {
    writeFileAtomic(cacheFile(context), dumpYaml(cache));
  } catch (error) {
    context.log("error", `Failed to cache mounts: ${messageOf(error)}`);
    throw new CommandError("Unable to write mount cache.");
  }
}

const CACHE = { read: ["{cachedir}"], write: ["{cachedir}"] } as const;

export const read_mount_cache: ModuleFunction<JobContext> = fn({
  doc: describe("Return the cached data of a mount.", "mount.read_mount_cache /mnt/share"),
  permissions: CACHE,
  params: { name: p.str() },
  run: ({ name }, context) => cachedMounts(readCache(context)).get(name) ?? new Map(),
});

export const write_mount_cache: ModuleFunction<JobContext> = fn({
  doc: describe("Cache how something was mounted.", "mount.write_mount_cache /mnt/share /dev/sda1 False ext4 defaults"),
  permissions: CACHE,
  params: { real_name: p.str(), device: p.any(), mkmnt: p.any(), fstype: p.any(), mount_opts: p.any() },
  run({ real_name, device, mkmnt, fstype, mount_opts }, context) {
    const cache = readCache(context);
    const mounts = cachedMounts(cache).set(real_name, map({ device, fstype, mkmnt, opts: mount_opts }));
    writeCache(cache.set("mounts", mounts), context);
    return true;
  },
});

export const delete_mount_cache: ModuleFunction<JobContext> = fn({
  doc: describe("Delete the cached data of a mount.", "mount.delete_mount_cache /mnt/share"),
  permissions: CACHE,
  params: { real_name: p.str() },
  run({ real_name }, context) {
    const cache = readCache(context);
    if (cachedMounts(cache).delete(real_name)) writeCache(cache, context);
    return true;
  },
});
