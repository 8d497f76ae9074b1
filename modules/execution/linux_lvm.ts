/**
 * Execution module `lvm`: physical volumes, volume groups and logical volumes.
 * Source: the functions of Salt 3008.3 `salt/modules/linux_lvm.py`.
 * @module
 */

import { realPath } from "#lib/os/disk_paths.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { parseLogicalVolumes, parsePhysicalVolumes, parseVolumeGroups } from "#lib/host/storage/lvm_output.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "lvm",
  serves: [{
    programs: ["lvm"],
    otherwise: "The linux_lvm execution module cannot be loaded: the lvm binary is not in the path.",
  }],
};

function lvm(words: readonly string[], context: JobContext, quiet = false): Promise<ProgramResult> {
  return runProgram(words, context, { setsRetcode: !quiet });
}

async function versions(context: JobContext): Promise<string[][]> {
  const { stdout } = await runProgram(["lvm", "version"], context, { joined: true, setsRetcode: true });
  return splitLines(stdout).map((line) => line.split(":").map((part) => part.trim()));
}

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of LVM.", "lvm.version"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => (await versions(context))[0]?.[1] ?? "",
});

export const fullversion: ModuleFunction<JobContext> = fn({
  doc: describe("Return the output of `lvm version`, as a map.", "lvm.fullversion"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => new Map((await versions(context)).map(([name, value = ""]) => [name, value])),
});

/** What a program displays of one thing, or of all; nothing if it fails. */
async function display(
  program: string,
  name: string,
  { parse, quiet, context }: {
    readonly parse: (text: string) => Map<string, ValueMap>;
    readonly quiet: boolean;
    readonly context: JobContext;
  },
): Promise<Map<string, ValueMap>> {
  const words = [program, "-c", ...name === "" ? [] : [checkedWord(name, "volume")]];
  const { retcode, stdout } = await lvm(words, context, quiet);
  return retcode === 0 ? parse(stdout) : new Map();
}

function physical(name: string, context: JobContext, quiet = false): Promise<Map<string, ValueMap>> {
  return display("pvdisplay", name, { parse: parsePhysicalVolumes, quiet, context });
}

export const pvdisplay: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the physical volumes by device, all or one. real=True: by the devices that links lead to. quiet=True: finding none is no\n" +
      "failure.",
    "lvm.pvdisplay",
    "lvm.pvdisplay /dev/md0",
  ),
  permissions: "all",
  params: { pvname: p.str(""), real: p.bool(false), quiet: p.bool(false) },
  async run({ pvname, real, quiet }, context) {
    const answer = await physical(pvname, context, quiet);
    if (!real) return answer;
    return new Map([...answer].map(([device, details]) => {
      const path = lexistsOrThrow(device) ? realPath(device) : device;
      return [path, details.set("Real Physical Volume Device", path)];
    }));
  },
});

export const vgdisplay: ModuleFunction<JobContext> = fn({
  doc: describe("Return the volume groups by name, all or one.", "lvm.vgdisplay", "lvm.vgdisplay nova-volumes"),
  permissions: "all",
  params: { vgname: p.str(""), quiet: p.bool(false) },
  run: ({ vgname, quiet }, context) => display("vgdisplay", vgname, { parse: parseVolumeGroups, quiet, context }),
});

export const lvdisplay: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the logical volumes by path, all or one.",
    "lvm.lvdisplay",
    "lvm.lvdisplay /dev/vg_myserver/root",
  ),
  permissions: "all",
  params: { lvname: p.str(""), quiet: p.bool(false) },
  run: ({ lvname, quiet }, context) => display("lvdisplay", lvname, { parse: parseLogicalVolumes, quiet, context }),
});

/** Devices of a list, or of a text with commas. */
function deviceList(given: Value): string[] {
  const list = Array.isArray(given) ? given.map(str) : str(given).split(",");
  return list.map((one) => checkedWord(one, "device"));
}

/** Whether questions are answered with yes, or not asked. */
function answers(force: boolean): string {
  return force ? "--yes" : "-qq";
}

/** `--option value` for the keywords that the program knows. */
function optionWords(kwargs: ValueMap, known: readonly string[], flags: readonly string[] = []): string[] {
  return [...kwargs].flatMap(([key, value]) => {
    const name = str(key);
    if (!truthy(value)) return [];
    if (flags.includes(name)) return [`--${name}`];
    return known.includes(name) ? [`--${name}`, str(value)] : [];
  });
}

const PHYSICAL_OPTIONS = [
  "metadatasize",
  "dataalignment",
  "dataalignmentoffset",
  "pvmetadatacopies",
  "metadatacopies",
  "metadataignore",
  "restorefile",
  "labelsector",
  "setphysicalvolumesize",
];

const DEVICES = { devices: p.any(), override: p.bool(true), force: p.bool(true) };

export const pvcreate: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create physical volumes on devices; existing ones are kept, or are an error with override=False. Return True, or the error.\n" +
      "Keywords are options of pvcreate.",
    "lvm.pvcreate /dev/sdb1,/dev/sdb2",
    "lvm.pvcreate /dev/sdb1 dataalignmentoffset=7s",
  ),
  permissions: "all",
  params: DEVICES,
  varKwargs: "kwargs",
  async run({ devices, override, force }, context, { kwargs }) {
    if (!truthy(devices)) return "Error: at least one device is required";
    const all = deviceList(devices);
    const added: string[] = [];
    for (const device of all) {
      if (!lexistsOrThrow(device)) return `${device} does not exist`;
      if ((await physical(device, context, true)).size === 0) added.push(device);
      else if (!override) return `Device "${device}" is already an LVM physical volume.`;
    }
    if (added.length === 0) return true;
    const options = optionWords(kwargs, PHYSICAL_OPTIONS, ["norestorefile"]);
    const { retcode, stderr } = await lvm(["pvcreate", answers(force), ...added, ...options], context);
    if (retcode !== 0) return stderr;
    for (const device of all) {
      if ((await physical(device, context)).size === 0) return `Device "${device}" was not affected.`;
    }
    return true;
  },
});

/** Those of the devices that are physical volumes; a text says which is not. */
async function physicalAmong(
  devices: Value,
  override: boolean,
  context: JobContext,
): Promise<readonly string[] | string> {
  const lvmDevices: string[] = [];
  for (const device of deviceList(devices)) {
    if ((await physical(device, context)).size > 0) lvmDevices.push(device);
    else if (!override) return `${device} is not a physical volume`;
  }
  return lvmDevices;
}

export const pvremove: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove physical volumes; other devices are ignored, or are an error with override=False. Return True, or the\n" +
      "error.",
    "lvm.pvremove /dev/sdb1,/dev/sdb2",
  ),
  permissions: "all",
  params: DEVICES,
  async run({ devices, override, force }, context) {
    const lvmDevices = await physicalAmong(devices, override, context);
    if (typeof lvmDevices === "string") return lvmDevices;
    if (lvmDevices.length === 0) return true;
    const { retcode, stderr } = await lvm(["pvremove", answers(force), ...lvmDevices], context);
    if (retcode !== 0) return stderr;
    for (const device of deviceList(devices)) {
      if ((await physical(device, context, true)).size > 0) return `Device "${device}" was not affected.`;
    }
    return true;
  },
});

export const pvresize: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Resize physical volumes to the size of their devices. Return True, or the error.",
    "lvm.pvresize /dev/sdb1,/dev/sdb2",
  ),
  permissions: "all",
  params: DEVICES,
  async run({ devices, override, force }, context) {
    const lvmDevices = await physicalAmong(devices, override, context);
    if (typeof lvmDevices === "string") return lvmDevices;
    if (lvmDevices.length === 0) return true;
    const { retcode, stderr } = await lvm(["pvresize", answers(force), ...lvmDevices], context);
    return retcode === 0 ? true : stderr;
  },
});

/** What a program has said: its error, or that it went well. */
function resultText({ retcode, stderr }: ProgramResult, done: string): string {
  return retcode === 0 ? done : stderr.trim();
}

const GROUP_OPTIONS = [
  "addtag",
  "alloc",
  "autobackup",
  "clustered",
  "maxlogicalvolumes",
  "maxphysicalvolumes",
  "metadatatype",
  "vgmetadatacopies",
  "metadatacopies",
  "physicalextentsize",
  "zero",
];

export const vgcreate: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a volume group of physical volumes. Return it, with the output of vgcreate. Keywords are options of vgcreate.",
    "lvm.vgcreate my_vg /dev/sdb1,/dev/sdb2",
    "lvm.vgcreate my_vg /dev/sdb1 clustered=y",
  ),
  permissions: "all",
  params: { vgname: p.str(), devices: p.any(), force: p.bool(false) },
  varKwargs: "kwargs",
  async run({ vgname, devices, force }, context, { kwargs }) {
    if (vgname === "" || !truthy(devices)) return "Error: vgname and device(s) are both required";
    const name = checkedWord(vgname, "volume group");
    const options = optionWords(kwargs, GROUP_OPTIONS);
    const result = await lvm(["vgcreate", name, ...deviceList(devices), answers(force), ...options], context);
    const details: ValueMap = new Map(
      await display("vgdisplay", name, { parse: parseVolumeGroups, quiet: false, context }),
    );
    return details.set("Output from vgcreate", resultText(result, `Volume group "${vgname}" successfully created`));
  },
});

export const vgextend: ModuleFunction<JobContext> = fn({
  doc: describe("Add physical volumes to a volume group.", "lvm.vgextend my_vg /dev/sdb1,/dev/sdb2"),
  permissions: "all",
  params: { vgname: p.str(), devices: p.any(), force: p.bool(false) },
  async run({ vgname, devices, force }, context) {
    if (vgname === "" || !truthy(devices)) return "Error: vgname and device(s) are both required";
    const words = ["vgextend", checkedWord(vgname, "volume group"), answers(force), ...deviceList(devices)];
    const done = `Volume group "${vgname}" successfully extended`;
    return { "Output from vgextend": resultText(await lvm(words, context), done) };
  },
});

const LOGICAL_FLAGS = ["nosync", "noudevsync", "ignoremonitoring", "thin"];
const LOGICAL_OPTIONS = [
  "activate",
  "chunksize",
  "contiguous",
  "discards",
  "stripes",
  "stripesize",
  "minor",
  "persistent",
  "mirrors",
  "monitor",
  "permission",
  "poolmetadatasize",
  "readahead",
  "regionsize",
  "type",
  "virtualsize",
  "zero",
];

export const lvcreate: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create a logical volume with a size or a number of extents. snapshot: the volume to snapshot; thinvolume, thinpool: whether it is\n" +
      "one. Return it, with the output of lvcreate. Keywords are options of lvcreate.",
    "lvm.lvcreate new_volume_name vg_name size=10G",
    "lvm.lvcreate new_volume_name vg_name extents=100 pv=/dev/sdb",
    "lvm.lvcreate new_snapshot vg_name snapshot=volume_name size=3G",
  ),
  permissions: "all",
  params: {
    lvname: p.str(),
    vgname: p.str(),
    size: p.str(null),
    extents: p.str(null),
    snapshot: p.str(null),
    pv: p.str(null),
    thinvolume: p.bool(false),
    thinpool: p.bool(false),
    force: p.bool(false),
  },
  varKwargs: "kwargs",
  async run(bound, context, { kwargs }) {
    const { lvname, vgname, size, extents, snapshot, pv, thinvolume, thinpool } = bound;
    if (size && extents) return "Error: Please specify only one of size or extents";
    if (thinvolume && thinpool) return "Error: Please set only one of thinvolume or thinpool to True";
    if (extents && thinvolume) return "Error: Thin volume size cannot be specified as extents";
    if (!size && !extents) return "Error: Either size or extents must be specified";
    const name = checkedWord(lvname, "volume");
    const group = checkedWord(vgname, "volume group");
    const extra = [...kwargs].flatMap(([key, value]) => {
      const option = str(key);
      if (LOGICAL_FLAGS.includes(option)) return [`--${option}`];
      return LOGICAL_OPTIONS.includes(option) ? [`--${option}`, str(value)] : [];
    });
    const words = [
      "lvcreate",
      ...thinvolume ? ["--thin", "-n", name] : thinpool ? ["--thinpool", name] : ["-n", name],
      ...snapshot ? ["-s", `${group}/${snapshot}`] : [group],
      ...size ? [thinvolume ? "-V" : "-L", size] : ["-l", extents ?? ""],
      ...pv ? [checkedWord(pv, "device")] : [],
      ...extra,
      answers(bound.force),
    ];
    const result = await lvm(words, context);
    const parse = { parse: parseLogicalVolumes, quiet: false, context };
    const details: ValueMap = new Map(await display("lvdisplay", `/dev/${group}/${name}`, parse));
    return details.set("Output from lvcreate", resultText(result, `Logical volume "${lvname}" created.`));
  },
});

export const vgremove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a volume group.", "lvm.vgremove vgname", "lvm.vgremove vgname force=True"),
  permissions: "all",
  params: { vgname: p.str(), force: p.bool(true) },
  run: async ({ vgname, force }, context) =>
    resultText(
      await lvm(["vgremove", checkedWord(vgname, "volume group"), answers(force)], context),
      `Volume group "${vgname}" successfully removed`,
    ),
});

export const lvremove: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a logical volume.", "lvm.lvremove lvname vgname force=True"),
  permissions: "all",
  params: { lvname: p.str(), vgname: p.str(), force: p.bool(true) },
  run: async ({ lvname, vgname, force }, context) =>
    resultText(
      await lvm(["lvremove", checkedWord(`${vgname}/${lvname}`, "volume"), answers(force)], context),
      `Logical volume "${lvname}" successfully removed`,
    ),
});

/** `lvresize` or `lvextend`. */
function resizing(program: "lvresize" | "lvextend", does: string, done: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `${does}, to a size or a number of extents; a leading + adds to it. resizefs=True: with its file system.`,
      `lvm.${program} +12M /dev/mapper/vg1-test`,
      `lvm.${program} lvpath=/dev/mapper/vg1-test extents=+100%FREE`,
    ),
    permissions: "all",
    params: {
      size: p.str(null),
      lvpath: p.str(null),
      extents: p.str(null),
      force: p.bool(false),
      resizefs: p.bool(false),
    },
    async run({ size, lvpath, extents, force, resizefs }, context) {
      if (size && extents) {
        context.log("error", "Error: Please specify only one of size or extents");
        return {};
      }
      if (!size && !extents) {
        context.log("error", "Error: Either size or extents must be specified");
        return {};
      }
      const words = [
        program,
        force ? (program === "lvresize" ? "--force" : "--yes") : "-qq",
        ...resizefs ? ["--resizefs"] : [],
        ...size ? ["-L", size] : ["-l", extents ?? ""],
        checkedWord(lvpath ?? "", "volume"),
      ];
      const details = resultText(await lvm(words, context), `Logical volume "${lvpath}" successfully ${done}.`);
      return new Map([[`Output from ${program}`, details]]);
    },
  });
}

export const lvresize: ModuleFunction<JobContext> = resizing(
  "lvresize",
  "Change the size of a logical volume",
  "resized",
);
export const lvextend: ModuleFunction<JobContext> = resizing("lvextend", "Make a logical volume larger", "extended");
