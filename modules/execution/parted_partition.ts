/**
 * Execution module `partition`: the partitions of block devices, with parted and sfdisk.
 * Source: the functions of Salt 3008.3 `salt/modules/parted_partition.py`; parted(8), sfdisk(8).
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { CommandError } from "#lib/errors.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "partition",
  serves: ["parted", "lsblk", "partprobe"].map((program) => ({
    programs: [program],
    otherwise: `The parted execution module failed to load ${program} binary is not in the path.`,
  })),
};

const UNITS = ["s", "B", "kB", "MB", "MiB", "GB", "GiB", "TB", "TiB", "%", "cyl", "chs", "compact"];
const DISK_FLAGS = ["cylinder_alignment", "pmbr_boot", "implicit_partition_table"];
const PARTITION_FLAGS = [
  ...["boot", "root", "swap", "hidden", "raid", "lvm", "lba", "hp-service", "palo", "prep", "msftres", "bios_grub"],
  ...["atvrecv", "diag", "legacy_boot", "msftdata", "irst", "esp", "type"],
];
const FILE_SYSTEMS = [
  ...["btrfs", "ext2", "ext3", "ext4", "fat", "fat32", "fat16", "linux-swap", "reiserfs", "hfs", "hfs+", "hfsx"],
  ...["NTFS", "ntfs", "ufs", "xfs"],
];
const LABELS = ["aix", "amiga", "bsd", "dvh", "gpt", "loop", "mac", "msdos", "pc98", "sun"];

function isBlockDevice(path: string): boolean {
  return statIfExists(path)?.isBlockDevice === true;
}

/** @throws {CommandError} If it is no block device. */
function checkedDevice(device: string): string {
  if (isBlockDevice(device) && device.startsWith("/")) return device;
  throw new CommandError("Invalid device passed to partition module.");
}

/** @throws {CommandError} If it is no number. */
function checkedNumber(value: Value, reason: string): string {
  const text = str(value).trim();
  if (/^\d+$/.test(text)) return text;
  throw new CommandError(reason);
}

/** @throws {CommandError} If the word is not in the list. */
function checkedAmong(word: string, list: readonly string[], reason: string): string {
  if (list.includes(word)) return word;
  throw new CommandError(reason);
}

/** @throws {CommandError} If it is not a number with a unit. */
function checkedBoundary(boundary: Value): string {
  const text = str(boundary);
  const unit = /^[\d.]+(\D*)$/.exec(text)?.[1];
  if (unit !== undefined && (unit === "" || UNITS.includes(unit))) return text;
  throw new CommandError(`Invalid partition boundary passed: "${text}"`);
}

/** The lines that a program says. */
async function linesOf(words: readonly string[], context: JobContext): Promise<string[]> {
  return splitLines((await runProgram(words, context, { setsRetcode: true, joined: true })).stdout);
}

const parted = (words: readonly string[], context: JobContext) => linesOf(["parted", "-m", "-s", ...words], context);

export const probe: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Have the kernel read the partitions of devices again, by default of all.",
    "partition.probe",
    "partition.probe /dev/sda /dev/sdb",
  ),
  permissions: "all",
  params: {},
  varArgs: "devices",
  run: (_, context, { args }) => linesOf(["partprobe", "--", ...args.map(str).map(checkedDevice)], context),
});

const UNREADABLE = "Problem encountered while parsing output from parted";
const INFO = [
  "disk",
  "size",
  "interface",
  "logical sector",
  "physical sector",
  "partition table",
  "model",
  "disk flags",
];

/** The output of `parted -m print`. */
function parsePrint(output: string, unit: string | null): ValueMap {
  let info: ValueMap | undefined;
  const partitions: ValueMap = new Map();
  for (const line of splitLines(output)) {
    if (["BYT;", "CHS;", "CYL;"].includes(line)) continue;
    const columns = rstripChars(line, ";").split(":");
    if (info === undefined) {
      if (columns.length < 7 || columns.length > 8) throw new CommandError(UNREADABLE);
      info = new Map(columns.map((column, i): [Value, Value] => [INFO[i], column]));
      continue;
    }
    const isFree = columns.at(-1) === "free";
    if (isFree) columns.pop();
    const fields = [
      ...["number", "start", "end"],
      ...unit === "chs" ? [] : ["size"],
      ...isFree ? [] : ["file system", "name", "flags"],
    ];
    if (fields.length !== columns.length) throw new CommandError(UNREADABLE);
    partitions.set(columns[0], new Map(columns.map((column, i): [Value, Value] => [fields[i], column])));
  }
  return map({ info: info ?? new Map(), partitions });
}

export const list: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the partitions of a device, and what it is.",
    "partition.list /dev/sda",
    "partition.list /dev/sda unit=s",
  ),
  permissions: "all",
  params: { device: p.str(), unit: p.str(null) },
  async run({ device, unit }, context) {
    const place = checkedDevice(device);
    const units = unit ? ["unit", checkedAmong(unit, UNITS, "Invalid unit passed to partition.part_list")] : [];
    const { stdout } = await runProgram(["parted", "-m", "-s", place, ...units, "print"], context, {
      setsRetcode: true,
    });
    return parsePrint(stdout, unit);
  },
});

export const align_check: ModuleFunction<JobContext> = fn({
  doc: describe("Check whether a partition is aligned: minimal, optimal.", "partition.align_check /dev/sda minimal 1"),
  permissions: "all",
  params: { device: p.str(), part_type: p.str(), partition: p.any() },
  run({ device, part_type, partition }, context) {
    const place = checkedDevice(device);
    const type = checkedAmong(part_type, ["minimal", "optimal"], "Invalid part_type passed to partition.align_check");
    const number = checkedNumber(partition, "Invalid partition passed to partition.align_check");
    return linesOf(["parted", "-m", place, "align-check", type, number], context);
  },
});

export const check: ModuleFunction<JobContext> = fn({
  doc: describe("Check the file system of a partition; parted 3 cannot.", "partition.check /dev/sda 1"),
  permissions: "all",
  params: { device: p.str(), minor: p.any() },
  run({ device, minor }, context) {
    const place = checkedDevice(device);
    return parted([place, "check", checkedNumber(minor, "Invalid minor number passed to partition.check")], context);
  },
});

export const cp: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Copy the file system of a partition over another partition; parted 3 cannot.",
    "partition.cp /dev/sda 2 3",
  ),
  permissions: "all",
  params: { device: p.str(), from_minor: p.any(), to_minor: p.any() },
  run({ device, from_minor, to_minor }, context) {
    const place = checkedDevice(device);
    const numbers = [from_minor, to_minor].map((minor) =>
      checkedNumber(minor, "Invalid minor number passed to partition.cp")
    );
    return parted([place, "cp", ...numbers], context);
  },
});

export const get_id: ModuleFunction<JobContext> = fn({
  doc: describe("Return the type of a partition, as sfdisk names it: 83 is Linux.", "partition.get_id /dev/sda 1"),
  permissions: "all",
  params: { device: p.str(), minor: p.any() },
  async run({ device, minor }, context) {
    const place = checkedDevice(device);
    const number = checkedNumber(minor, "Invalid minor number passed to partition.get_id");
    return await linesOf(["sfdisk", "--part-type", place, number], context);
  },
});

async function systemTypes(context: JobContext): Promise<ValueMap> {
  const types: ValueMap = new Map();
  for (const line of await linesOf(["sfdisk", "-T"], context)) {
    const [id, name] = splitWhitespace(line);
    if (id !== undefined && name !== undefined && !line.startsWith("Id")) types.set(id, name);
  }
  return types;
}

export const set_id: ModuleFunction<JobContext> = fn({
  doc: describe("Set the type of a partition: 83 is Linux, 8e Linux LVM.", "partition.set_id /dev/sda 1 83"),
  permissions: "all",
  params: { device: p.str(), minor: p.any(), system_id: p.str() },
  async run({ device, minor, system_id }, context) {
    const place = checkedDevice(device);
    const number = checkedNumber(minor, "Invalid minor number passed to partition.set_id");
    if (!(await systemTypes(context)).has(system_id)) {
      throw new CommandError("Invalid system_id passed to partition.set_id");
    }
    return await linesOf(["sfdisk", "--part-type", place, number, system_id], context);
  },
});

export const system_types: ModuleFunction<JobContext> = fn({
  doc: describe("Return the types of partitions that sfdisk knows.", "partition.system_types"),
  permissions: "all",
  params: {},
  run: (_, context) => systemTypes(context),
});

export const mkfs: ModuleFunction<JobContext> = fn({
  doc: describe("Make a file system on a partition, whose contents are lost.", "partition.mkfs /dev/sda2 fat32"),
  permissions: "all",
  params: { device: p.str(), fs_type: p.str() },
  async run({ device, fs_type }, context) {
    const place = checkedDevice(device);
    const type = checkedAmong(fs_type, FILE_SYSTEMS, "Invalid fs_type passed to partition.mkfs").replace(
      "NTFS",
      "ntfs",
    );
    const program = type === "linux-swap" ? "mkswap" : `mkfs.${type}`;
    if (which(program) === undefined) return `Error: ${program} is unavailable.`;
    return await linesOf([program, place], context);
  },
});

export const mklabel: ModuleFunction<JobContext> = fn({
  doc: describe("Make a table of partitions: gpt, msdos. All partitions are lost.", "partition.mklabel /dev/sda msdos"),
  permissions: "all",
  params: { device: p.str(), label_type: p.str() },
  run({ device, label_type }, context) {
    const type = checkedAmong(label_type, LABELS, "Invalid label_type passed to partition.mklabel");
    return parted([checkedDevice(device), "mklabel", type], context);
  },
});

function making(name: string, text: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(text, `partition.${name} /dev/sda primary fs_type=fat32 start=0 end=639`),
    permissions: "all",
    params: { device: p.str(), part_type: p.str(), fs_type: p.str(null), start: p.any(null), end: p.any(null) },
    run({ device, part_type, fs_type, start, end }, context) {
      const place = checkedDevice(device);
      const types = ["primary", "logical", "extended"];
      const type = checkedAmong(part_type, types, "Invalid part_type passed to partition.mkpart");
      const systems = fs_type
        ? [checkedAmong(fs_type, FILE_SYSTEMS, "Invalid fs_type passed to partition.mkpart")]
        : [];
      const boundaries = [start, end].map((boundary) => boundary === null ? "" : checkedBoundary(boundary));
      return parted(["--", place, "mkpart", type, ...systems, ...boundaries], context);
    },
  });
}

export const mkpart: ModuleFunction<JobContext> = making(
  "mkpart",
  "Make a partition: primary, logical or extended, for a file system, from start to end, in megabytes or with a unit.",
);
export const mkpartfs: ModuleFunction<JobContext> = making("mkpartfs", "The same as partition.mkpart.");

export const name: ModuleFunction<JobContext> = fn({
  doc: describe("Name a partition, in tables that have names.", "partition.name /dev/sda 1 'My Documents'"),
  permissions: "all",
  params: { device: p.str(), partition: p.any(), name: p.str() },
  run({ device, partition, name }, context) {
    const place = checkedDevice(device);
    const number = checkedNumber(partition, "Invalid partition passed to partition.name");
    if (!/^[A-Za-z0-9 _-]*$/.test(name)) throw new CommandError("Invalid characters passed to partition.name");
    return parted([place, "name", number, `'${name}'`], context);
  },
});

export const rescue: ModuleFunction<JobContext> = fn({
  doc: describe("Find a lost partition between two places.", "partition.rescue /dev/sda 0 8056"),
  permissions: "all",
  params: { device: p.str(), start: p.any(), end: p.any() },
  run: ({ device, start, end }, context) =>
    parted([checkedDevice(device), "rescue", checkedBoundary(start), checkedBoundary(end)], context),
});

export const resize: ModuleFunction<JobContext> = fn({
  doc: describe("Resize the file system of a partition; parted 3 cannot.", "partition.resize /dev/sda 3 200 850"),
  permissions: "all",
  params: { device: p.str(), minor: p.any(), start: p.any(), end: p.any() },
  run({ device, minor, start, end }, context) {
    const place = checkedDevice(device);
    const number = checkedNumber(minor, "Invalid minor number passed to partition.resize");
    return parted(["--", place, "resize", number, checkedBoundary(start), checkedBoundary(end)], context);
  },
});

export const rm: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a partition.", "partition.rm /dev/sda 5"),
  permissions: "all",
  params: { device: p.str(), minor: p.any() },
  run({ device, minor }, context) {
    const place = checkedDevice(device);
    return parted([place, "rm", checkedNumber(minor, "Invalid minor number passed to partition.rm")], context);
  },
});

const STATES = ["on", "off"];

export const set_: ModuleFunction<JobContext> = fn({
  doc: describe("Set a flag of a partition on or off.", "partition.set /dev/sda 1 boot '\"on\"'"),
  permissions: "all",
  params: { device: p.str(), minor: p.any(), flag: p.str(), state: p.any() },
  run({ device, minor, flag, state }, context) {
    const place = checkedDevice(device);
    const number = checkedNumber(minor, "Invalid minor number passed to partition.set");
    const checked = checkedAmong(flag, PARTITION_FLAGS, "Invalid flag passed to partition.set");
    return parted([place, "set", number, checked, stateWord(state, "set")], context);
  },
});

/** `on` or `off`; YAML on a command line makes booleans of them. */
function stateWord(state: Value, fun: string): string {
  const word = typeof state === "boolean" ? STATES[state ? 0 : 1] : str(state);
  return checkedAmong(word, STATES, `Invalid state passed to partition.${fun}`);
}

export const toggle: ModuleFunction<JobContext> = fn({
  doc: describe("Change a flag of a partition to its opposite.", "partition.toggle /dev/sda 1 boot"),
  permissions: "all",
  params: { device: p.str(), partition: p.any(), flag: p.str() },
  run({ device, partition, flag }, context) {
    const place = checkedDevice(device);
    const number = checkedNumber(partition, "Invalid partition number passed to partition.toggle");
    return parted([
      place,
      "toggle",
      number,
      checkedAmong(flag, PARTITION_FLAGS, "Invalid flag passed to partition.toggle"),
    ], context);
  },
});

export const disk_set: ModuleFunction<JobContext> = fn({
  doc: describe("Set a flag of a device on or off.", "partition.disk_set /dev/sda pmbr_boot '\"on\"'"),
  permissions: "all",
  params: { device: p.str(), flag: p.str(), state: p.any() },
  run({ device, flag, state }, context) {
    const place = checkedDevice(device);
    const checked = checkedAmong(flag, DISK_FLAGS, "Invalid flag passed to partition.disk_set");
    return parted([place, "disk_set", checked, stateWord(state, "disk_set")], context);
  },
});

export const disk_toggle: ModuleFunction<JobContext> = fn({
  doc: describe("Change a flag of a device to its opposite.", "partition.disk_toggle /dev/sda pmbr_boot"),
  permissions: "all",
  params: { device: p.str(), flag: p.str() },
  run({ device, flag }, context) {
    const place = checkedDevice(device);
    const checked = checkedAmong(flag, DISK_FLAGS, "Invalid flag passed to partition.disk_toggle");
    return parted([place, "disk_toggle", checked], context);
  },
});

export const exists: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether there is a block device.", "partition.exists /dev/sdb1"),
  permissions: "all",
  params: { device: p.str("") },
  run: ({ device }) => device !== "" && isBlockDevice(device),
});

export const get_block_device: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of the disks of the host.", "partition.get_block_device"),
  permissions: "all",
  params: {},
  run: (_, context) => linesOf(["lsblk", "-n", "-io", "KNAME", "-d", "-e", "1,7,11", "-l"], context),
});
