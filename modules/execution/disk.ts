/**
 * Execution module `disk`: how full file systems are, what block devices are, and changing both.
 * Source: the functions of Salt 3008.3 `salt/modules/disk.py` for Linux.
 * @module
 */

import { runForText, runTool } from "./_file_host.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { checkedWord, needOneOf, needPrograms } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { parseBlkid, parseHdparm, parseIostat, parseSmart } from "#lib/host/storage/block_devices.ts";
import { dfFlags, parseInodeUsage, parsePercent, parseUsage } from "#lib/host/storage/disk_usage.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { asList } from "#lib/values/shape.ts";
import { str, toNumber, type Value } from "#lib/values/value.ts";

/** Flags as a text or a list. */
function flagsOf(args: Value): string | null {
  return args === null ? null : Array.isArray(args) ? args.map(str).join("") : str(args);
}

/** What was parsed; an empty map, and a line in the log, if that was not possible. */
function orProblem<T>(table: Map<string, T> | undefined, context: JobContext): Map<string, T> {
  if (table === undefined) context.log("error", "Problem parsing disk usage information");
  return table ?? new Map();
}

export const usage: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the size and use of mounted file systems, by mount point. args are flags of `df`.",
    "disk.usage",
  ),
  permissions: "all",
  params: { args: p.any(null) },
  async run({ args }, context) {
    const flags = dfFlags(flagsOf(args), "disk.usage");
    if (!isFile("/etc/mtab")) {
      context.log("error", "df cannot run without /etc/mtab");
      return {};
    }
    return orProblem(parseUsage(await runForText(context, ["df", "-P", ...flags])), context);
  },
});

export const inodeusage: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the inodes of mounted file systems, by mount point. args are flags of `df`.",
    "disk.inodeusage",
  ),
  permissions: "all",
  params: { args: p.any(null) },
  async run({ args }, context) {
    const flags = dfFlags(flagsOf(args), "disk.inodeusage");
    return orProblem(parseInodeUsage(await runForText(context, ["df", "-iP", ...flags])), context);
  },
});

export const percent: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return how full mounted file systems are, in percent: by mount point, or of one mount point.",
    "disk.percent /var",
  ),
  permissions: "all",
  params: { args: p.str(null) },
  async run({ args }, context) {
    const usage = orProblem(parsePercent(await runForText(context, ["df", "-P"])), context);
    if (args === null || args === "") return usage;
    if (usage.has(args)) return usage.get(args);
    context.log("error", `Problem parsing disk usage information: Partition '${args}' does not exist!`);
    return {};
  },
});

export const blkid: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the attributes of block devices, UUID, LABEL and others: of all devices, of one, or of those that match a token.",
    "disk.blkid",
    "disk.blkid /dev/sda",
    "disk.blkid token='UUID=6a38ee5-7235-44e7-8b22-816a403bad5d'",
    "disk.blkid token='TYPE=ext4'",
  ),
  permissions: "all",
  params: { device: p.str(null), token: p.str(null) },
  async run({ device, token }, context) {
    needPrograms("blkid");
    const chosen = device ? [checkedWord(device, "device")] : token ? ["-t", checkedWord(token, "token")] : [];
    const { retcode, stdout } = await runTool(context, ["blkid", ...chosen]);
    return retcode > 0 ? {} : parseBlkid(stdout);
  },
});

/** What `blockdev` is asked for, by the names of its options. */
const DUMPED = [
  ...[
    "getro",
    "getsz",
    "getss",
    "getpbsz",
    "getiomin",
    "getioopt",
    "getalignoff",
    "getmaxsect",
    "getsize",
    "getsize64",
  ],
  ...["getra", "getfra"],
];

async function dumpDevice(device: string, args: readonly string[] | undefined, context: JobContext): Promise<unknown> {
  const words = ["blockdev", ...DUMPED.map((name) => `--${name}`), checkedWord(device, "device")];
  const { retcode, stdout } = await runTool(context, words);
  if (retcode !== 0) return false;
  const fields = new Map(splitLines(stdout).filter((line) => line !== "").map((line, i) => [DUMPED[i], line]));
  if (args === undefined || args.length === 0) return fields;
  return new Map(args.map((arg) => {
    const value = fields.get(arg);
    if (value === undefined) throw new CommandError(`'${arg}'`);
    return [arg, value];
  }));
}

export const dump: ModuleFunction<JobContext> = fn({
  doc: describe("Return what `blockdev` reports about a device: all, or a list of attributes.", "disk.dump /dev/sda1"),
  permissions: "all",
  params: { device: p.str(), args: p.any(null) },
  run: ({ device, args }, context) => dumpDevice(device, args === null ? undefined : asList(args).map(str), context),
});

/** Salt's names of settings, with the options of `blockdev` that set and show them. */
const TUNED: ReadonlyMap<string, { readonly set: string; readonly get: string; readonly isSwitch?: true }> = new Map([
  ["read-ahead", { set: "setra", get: "getra" }],
  ["filesystem-read-ahead", { set: "setfra", get: "getfra" }],
  ["read-only", { set: "setro", get: "getro", isSwitch: true }],
  ["read-write", { set: "setrw", get: "getro", isSwitch: true }],
]);

export const tune: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set read-ahead, filesystem-read-ahead, read-only=True or read-write=True of a device, and return the new settings.",
    "disk.tune /dev/sda1 read-ahead=1024 read-write=True",
  ),
  permissions: "all",
  params: { device: p.str() },
  varKwargs: "kwargs",
  async run({ device }, context, { kwargs }) {
    const given = [...kwargs].map(([key, value]): [string, Value] => [str(key), value])
      .filter(([key]) => !key.startsWith("__"));
    const isTrue = (value: Value) => value === true || value === "True";
    const invalid = given.filter(([key, value]) => {
      const option = TUNED.get(key);
      return option === undefined || (option.isSwitch && !isTrue(value));
    });
    if (invalid.length > 0) {
      const words = invalid.map(([key, value]) => `${key}=${str(value)}`).join(", ");
      throw new InvocationError(`Invalid keyword arguments: ${words}`);
    }
    const chosen = given.flatMap(([key, value]) => {
      const option = TUNED.get(key);
      return option === undefined ? [] : [{ ...option, value }];
    });
    const options = chosen.flatMap(({ set, isSwitch, value }) =>
      isSwitch ? [`--${set}`] : [`--${set}`, checkedWord(str(value), "value")]
    );
    const { retcode, stderr } = await runTool(context, ["blockdev", ...options, checkedWord(device, "device")]);
    if (retcode !== 0) throw new CommandError(stderr);
    return await dumpDevice(device, chosen.map(({ get }) => get), context);
  },
});

export const wipe: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the signatures of file systems from a device. Return whether this was done.",
    "disk.wipe /dev/sda1",
  ),
  permissions: "all",
  params: { device: p.str() },
  async run({ device }, context) {
    const { retcode, stderr } = await runTool(context, ["wipefs", "-a", checkedWord(device, "device")]);
    if (retcode !== 0) context.log("error", `Error wiping device ${device}: ${stderr}`);
    return retcode === 0;
  },
});

export const resize2fs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Grow an ext file system to the size of its device. True, or None if it failed.",
    "disk.resize2fs /dev/sda1",
  ),
  permissions: "all",
  params: { device: p.str() },
  run: async ({ device }, context) =>
    (await runTool(context, ["resize2fs", checkedWord(device, "device")])).retcode === 0 ? true : null,
});

export const format_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a file system on a device, whose contents are lost. Return whether this was done. inode_size is for ext and xfs,\n" +
      "lazy_itable_init for ext, fat (12, 16, 32) for FAT, force for ext and xfs.",
    "disk.format /dev/sdX1",
  ),
  permissions: "all",
  params: {
    device: p.str(),
    fs_type: p.str("ext4"),
    inode_size: p.any(null),
    lazy_itable_init: p.any(null),
    fat: p.any(null),
    force: p.bool(false),
  },
  async run({ device, fs_type, inode_size, lazy_itable_init, fat, force }, context) {
    needPrograms("sync");
    needPrograms("mkfs");
    const isExt = fs_type.startsWith("ext"), isXfs = fs_type === "xfs";
    const words = ["mkfs", "-t", checkedWord(fs_type, "type")];
    if (inode_size !== null && isExt) words.push("-i", str(inode_size));
    if (inode_size !== null && isXfs) words.push("-i", `size=${str(inode_size)}`);
    if (lazy_itable_init !== null && isExt) words.push("-E", `lazy_itable_init=${str(lazy_itable_init)}`);
    if ([12, 16, 32].includes(toNumber(fat) ?? 0) && fs_type.endsWith("fat")) words.push("-F", str(fat));
    if (force && isExt) words.push("-F");
    if (force && isXfs) words.push("-f");
    const result = await runTool(context, [...words, checkedWord(device, "device")], { ignoreRetcode: true });
    const synced = await runTool(context, ["sync"], { ignoreRetcode: true });
    return result.retcode === 0 && synced.retcode === 0;
  },
});

async function typeOf(device: string, context: JobContext): Promise<string> {
  const word = checkedWord(device, "device");
  if (which("lsblk") !== undefined) {
    const type = splitLines(await runForText(context, ["lsblk", "-o", "fstype", word]))[1]?.trim();
    if (type) return type;
  }
  if (which("df") === undefined) return "";
  return splitLines(await runForText(context, ["df", "-T", word]))[1] ?? "";
}

export const fstype: ModuleFunction<JobContext> = fn({
  doc: describe("Return the type of the file system on a device.", "disk.fstype /dev/sdX1"),
  permissions: "all",
  params: { device: p.str() },
  run({ device }, context) {
    needOneOf("lsblk", "df");
    return typeOf(device, context);
  },
});

export const get_fstype_from_path: ModuleFunction<JobContext> = fn({
  doc: describe("Return the type of the file system of a path.", "disk.get_fstype_from_path /root"),
  permissions: "all",
  params: { path: p.str() },
  run: async ({ path }, context) => typeOf(str(await context.call("mount.get_device_from_path", [path])), context),
});

/**
 * Runs `hdparm`.
 * @throws {CommandError} If it fails, and `mayFail` is not set.
 */
async function hdparm(words: readonly string[], context: JobContext, mayFail: boolean): Promise<string> {
  needPrograms("hdparm");
  const { retcode, stdout, stderr } = await runTool(context, ["hdparm", ...words]);
  if (retcode !== 0) {
    const problem = `hdparm ${words.join(" ")}: ${stderr}`;
    if (!mayFail) throw new CommandError(problem);
    context.log("warning", problem);
  }
  return stdout;
}

async function parametersOf(
  disks: Value,
  flags: string,
  context: JobContext,
): Promise<Map<string, Map<string, Value>>> {
  const parameters = new Map<string, Map<string, Value>>();
  for (const disk of asList(disks).map(str)) {
    const path = checkedWord(disk.startsWith("/dev") ? disk : `/dev/${disk}`, "disk");
    parameters.set(path, parseHdparm(await hdparm([`-${flags}`, path], context, true), path));
  }
  return parameters;
}

export const hdparms: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the parameters of a disk, or of a list, that `hdparm` reports for these flags.",
    "disk.hdparms /dev/sda",
  ),
  permissions: "all",
  params: { disks: p.any(), args: p.any("aAbBcCdgHiJkMmNnQrRuW") },
  run({ disks, args }, context) {
    needPrograms("hdparm");
    const flags = flagsOf(args) ?? "";
    if (!/^[A-Za-z]+$/.test(flags)) throw new InvocationError(`Invalid flags of hdparm: ${JSON.stringify(flags)}`);
    return parametersOf(disks, flags, context);
  },
});

export const hpa: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the Host Protected Area of a disk, or of a list. With size, sectors or a percentage, set it, which may lose data.",
    "disk.hpa /dev/sda",
    "disk.hpa /dev/sda 5%",
    "disk.hpa /dev/sda 10543256",
  ),
  permissions: "all",
  params: { disks: p.any(), size: p.any(null) },
  async run({ disks, size }, context) {
    const areas = new Map<string, { total: number; visible?: number; hidden?: number }>();
    for (const [disk, data] of await parametersOf(disks, "N", context)) {
      const [first] = data.values();
      if (!Array.isArray(first) || first.length < 3) throw new CommandError(`hdparm tells no sectors of ${disk}`);
      const [visible, total, state] = [Number(first[0]), Number(first[1]), str(first[2])];
      const whole = visible === total || state.includes("disabled");
      areas.set(disk, whole ? { total } : { total, visible, hidden: total - visible });
    }
    if (size === null) return areas;
    for (const [disk, { total }] of areas) await hdparm(hpaWords(visibleSectors(total, size), disk), context, false);
    return null;
  },
});

function hpaWords(sectors: number, disk: string): string[] {
  return ["--yes-i-know-what-i-am-doing", `-Np${sectors}`, disk];
}

/** The sectors that stay visible if so many, or a percentage, are hidden. */
function visibleSectors(total: number, size: Value): number {
  const [, number, sign] = /^\s*(\d+)\s*(%?)\s*$/.exec(str(size)) ?? [];
  if (number === undefined) throw new InvocationError(`Invalid size: ${str(size)}`);
  const left = sign === "%" ? Math.floor((100 - Number(number)) * total / 100) : total - Number(number);
  return left <= 0 ? total : left;
}

export const smart_attributes: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the SMART attributes of a disk by their numbers: all, or a list of numbers; values: only these columns.",
    "disk.smart_attributes /dev/sda",
    "disk.smart_attributes /dev/sda attributes='[5,187,188,197,198]'",
  ),
  permissions: "all",
  params: { dev: p.str(), attributes: p.any(null), values: p.any(null) },
  async run({ dev, attributes, values }, context) {
    const path = checkedWord(dev.startsWith("/dev/") ? dev : `/dev/${dev}`, "disk");
    const { retcode, stdout, stderr } = await runTool(context, ["smartctl", "--attributes", path]);
    if (retcode !== 0) throw new CommandError(stderr);
    const listOf = (given: Value) => given === null ? undefined : asList(given);
    return parseSmart(stdout, { attributes: listOf(attributes)?.map(Number), values: listOf(values)?.map(str) });
  },
});

export const iostat: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the averages of `count` reports of `iostat`, `interval` seconds apart, for all disks or the named ones.",
    "disk.iostat 1 5 disks=sda",
  ),
  permissions: "all",
  params: { interval: p.int(1), count: p.int(5), disks: p.any(null) },
  async run({ interval, count, disks }, context) {
    needPrograms("iostat");
    const names = disks === null ? [] : asList(disks).map((disk) => checkedWord(str(disk), "disk"));
    const words = ["iostat", disks === null ? "-x" : "-xd", String(interval), String(count), ...names];
    return parseIostat((await runTool(context, words)).stdout);
  },
});
