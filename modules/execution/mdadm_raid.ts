/**
 * Execution module `raid`: RAID arrays of the kernel, with mdadm.
 * Source: the functions of Salt 3008.3 `salt/modules/mdadm_raid.py`; mdadm(8).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { exists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { escapeRegex } from "#lib/regex/escape.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { asList, mapUnder } from "#lib/values/shape.ts";
import { map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "raid",
  serves: [
    {
      grains: { kernel: ["Linux"] },
      otherwise: "The mdadm execution module cannot be loaded: only available on Linux.",
    },
    {
      programs: ["mdadm"],
      otherwise: "The mdadm execution module cannot be loaded: the mdadm binary is not in the path.",
    },
  ],
};

function mdadm(words: readonly string[], context: JobContext, { setsRetcode = true, joined = false } = {}) {
  return runProgram(["mdadm", ...words], context, { setsRetcode, joined });
}

/** The configuration: where it is depends on the distribution. */
function configFile({ grains }: JobContext): string {
  return grains.get("os_family") === "Debian" ? "/etc/mdadm/mdadm.conf" : "/etc/mdadm.conf";
}

async function scan(context: JobContext, joined = false): Promise<string[]> {
  return splitLines((await mdadm(["--detail", "--scan"], context, { joined })).stdout);
}

async function arrays(context: JobContext): Promise<Map<string, ValueMap>> {
  const found = new Map<string, ValueMap>();
  for (const line of await scan(context)) {
    const [, device, ...parts] = splitWhitespace(line);
    if (device === undefined) continue;
    const entries = parts.map((part): [Value, Value] => [part.split("=")[0].toLowerCase(), part.split("=")[1] ?? ""]);
    found.set(device, new Map<Value, Value>([["device", device], ...entries]));
  }
  return found;
}

export const list: ModuleFunction<JobContext> = fn({
  doc: describe("Return the arrays, by device.", "raid.list"),
  permissions: "all",
  params: {},
  run: (_, context) => arrays(context),
});

async function details(device: string, context: JobContext): Promise<ValueMap> {
  if (!exists(device)) throw new CommandError(`Device ${device} doesn't exist!`);
  const found: ValueMap = map({ members: new Map() });
  const members = mapUnder(found, "members");
  const { stdout } = await mdadm(["--detail", checkedWord(device, "device")], context);
  for (const line of splitLines(stdout)) {
    if (line.startsWith(device) || !line.includes(" ")) continue;
    if (line.includes(":")) {
      const [name, value] = line.split(" : ");
      if (value !== undefined) found.set(name.toLowerCase().trim().replaceAll(" ", "_"), value.trim());
      continue;
    }
    if (!line.includes("/dev/")) continue;
    const words = splitWhitespace(line);
    const [number, major, minor, raiddevice] = words;
    const state = words.slice(4, -1).join(" ");
    members.set(number, map({ device: words.at(-1), major, minor, number, raiddevice, state }));
  }
  return found;
}

export const detail: ModuleFunction<JobContext> = fn({
  doc: describe("Return what mdadm tells of an array, its members among it.", "raid.detail '/dev/md0'"),
  permissions: "all",
  params: { device: p.str("/dev/md0") },
  run: ({ device }, context) => details(device, context),
});

/** Calls `file.replace`; it refuses a file that is not there. */
async function replaceInConfig(context: JobContext, args: Value[], kwargs: Record<string, unknown>): Promise<boolean> {
  try {
    await context.call("file.replace", args, map(kwargs));
    return true;
  } catch (error) {
    if (error instanceof InvocationError) return false;
    throw error;
  }
}

export const destroy: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Stop an array, make its members usable for others, and remove it from the configuration. Return whether it is gone.",
    "raid.destroy /dev/md0",
  ),
  permissions: "all",
  params: { device: p.str() },
  async run({ device }, context) {
    if (!exists(device)) return false;
    const members = [...mapUnder(await details(device, context), "members").values()];
    if ((await mdadm(["--stop", device], context)).retcode === 0) {
      const devices = members.map((member) => member instanceof Map ? str(member.get("device") ?? "") : "");
      await mdadm(["--zero-superblock", ...devices], context);
    }
    await replaceInConfig(context, [configFile(context), `ARRAY ${escapeRegex(device)} .*`, ""], {});
    return !(await arrays(context)).has(device);
  },
});

export const stop: ModuleFunction<JobContext> = fn({
  doc: describe("Stop all arrays. Return whether that was done.", "raid.stop"),
  permissions: "all",
  params: {},
  run: async (_, context) => (await mdadm(["--stop", "--scan"], context)).retcode === 0,
});

/** Keywords as options of mdadm: `chunk=256` is `--chunk 256`, `run=True` is `--run`. */
function optionWords(kwargs: ValueMap): string[] {
  return [...ownKeywords(kwargs)].flatMap(([key, value]) => {
    const name = str(key);
    if (!/^[a-z][a-z0-9-]*$/.test(name)) throw new InvocationError(`Invalid option: ${JSON.stringify(name)}`);
    return value === true ? [`--${name}`] : [`--${name}`, checkedWord(str(value), name)];
  });
}

/** The devices: a list, or a text with commas; `missing` stands for one that is not there. */
function deviceWords(devices: Value): string[] {
  const words = typeof devices === "string" ? devices.split(",") : asList(devices).map(str);
  return words.map((word) => checkedWord(word, "device"));
}

export const create: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Create an array. Keywords are options of mdadm. Return what mdadm says; with test_mode=True, its command line.",
    "raid.create /dev/md0 level=1 chunk=256 devices=\"['/dev/xvdd', '/dev/xvde']\" test_mode=True",
  ),
  permissions: "all",
  params: { name: p.str(), level: p.str(), devices: p.any(), metadata: p.str("default"), test_mode: p.bool(false) },
  varKwargs: "kwargs",
  async run({ name, level, devices, metadata, test_mode }, context, { kwargs }) {
    const members = deviceWords(devices);
    const count = members.length - (toNumber(kwargs.get("spare-devices")) ?? 0);
    const words = [
      ...["-C", checkedWord(name, "name"), "-R", "-v", "-l", checkedWord(level, "level"), ...optionWords(kwargs)],
      ...["-e", checkedWord(metadata, "metadata"), "-n", `${count}`, ...members],
    ];
    if (test_mode) return ["mdadm", ...words].join(" ");
    return (await mdadm(words, context, { joined: true })).stdout;
  },
});

export const save_config: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Write the arrays into the configuration, and make the initial RAM disk again, where the distribution has one.",
    "raid.save_config",
  ),
  permissions: "all",
  params: {},
  async run(_, context) {
    const lines = (await scan(context, true)).map((line) =>
      context.grains.get("os") === "Ubuntu" ? line.replace(/\s(?:name|metadata)=\S+/gi, "") : line
    );
    const file = configFile(context);
    const volumes = new Map(lines.flatMap((line): [string, string][] => {
      const device = splitWhitespace(line)[1];
      return device === undefined ? [] : [[device, line]];
    }));
    let isThere = true;
    for (const [device, line] of volumes) {
      const pattern = `^ARRAY\\s+${escapeRegex(device)}\\s+.*$`;
      const repl = line.replaceAll("\\", "\\\\");
      isThere = isThere && await replaceInConfig(context, [file, pattern, repl], { append_if_not_found: true });
    }
    if (!isThere) await context.call("file.write", [file], map({ args: lines }));
    const family = context.grains.get("os_family");
    if (family === "Debian") return await makeImage(["update-initramfs", "-u"], context);
    return family === "RedHat" ? await makeImage(["dracut", "--force"], context) : null;
  },
});

async function makeImage(words: readonly string[], context: JobContext): Promise<string> {
  return (await runProgram(words, context, { setsRetcode: true, joined: true })).stdout;
}

export const assemble: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Assemble an array of devices that belong to it. Keywords are options of mdadm. Return what mdadm says; with\n" +
      "test_mode=True, its words.",
    "raid.assemble /dev/md0 ['/dev/xvdd', '/dev/xvde']",
  ),
  permissions: "all",
  params: { name: p.str(), devices: p.any(), test_mode: p.bool(false) },
  varKwargs: "kwargs",
  async run({ name, devices, test_mode }, context, { kwargs }) {
    const words = ["-A", checkedWord(name, "name"), "-v", ...optionWords(kwargs), ...deviceWords(devices)];
    return test_mode ? ["mdadm", ...words] : (await mdadm(words, context, { joined: true })).stdout;
  },
});

export const examine: ModuleFunction<JobContext> = fn({
  doc: describe("Return what a device tells of the array that it belongs to.", "raid.examine '/dev/sda1'"),
  permissions: "all",
  params: { device: p.str(), quiet: p.bool(false) },
  async run({ device, quiet }, context) {
    const { stdout } = await mdadm(["-Y", "-E", checkedWord(device, "device")], context, { setsRetcode: !quiet });
    return new Map(
      splitLines(stdout).map((line): [Value, Value] => {
        const [name] = line.split("=", 1);
        return [name, line.slice(name.length + 1)];
      }),
    );
  },
});

export const add: ModuleFunction<JobContext> = fn({
  doc: describe("Add a device to an array. Return whether that was done.", "raid.add /dev/md0 /dev/sda1"),
  permissions: "all",
  params: { name: p.str(), device: p.str() },
  run: async ({ name, device }, context) =>
    (await mdadm(["--manage", checkedWord(name, "name"), "--add", checkedWord(device, "device")], context)).retcode ===
      0,
});
