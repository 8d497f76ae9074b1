/**
 * Execution module `xfs`: XFS file systems.
 * Source: the functions of Salt 3008.3 `salt/modules/xfs.py`.
 * @module
 */

import { callRunAll } from "./_file_host.ts";
import { CommandError } from "#lib/errors.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import {
  parseDevices,
  parseDump,
  parseEstimates,
  parseGeometry,
  parseInventory,
  parsePruned,
  xfsMounts,
} from "#lib/host/storage/xfs_output.ts";
import { strftime } from "#lib/text/strftime.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ grains: { kernel: ["Linux"] }, otherwise: "The xfs module only works on Linux" }],
};

/**
 * What a program prints.
 * @throws {CommandError} If it failed and says why.
 */
async function printGeometry(words: readonly string[], context: JobContext): Promise<string> {
  const result = await callRunAll(context, words);
  const stderr = str(result.get("stderr") ?? "");
  if (truthy(result.get("retcode")) && stderr !== "") throw new CommandError(stderr);
  return str(result.get("stdout") ?? "");
}

function mountsText(): string {
  return Deno.readTextFileSync("/proc/mounts");
}

const device = (given: string) => checkedWord(given, "device");

export const info: ModuleFunction<JobContext> = fn({
  doc: describe("Return the geometry of a file system, as xfs_info tells.", "xfs.info /dev/sda1"),
  permissions: "all",
  params: { device: p.str() },
  async run(bound, context) {
    const result = await callRunAll(context, ["xfs_info", device(bound.device)]);
    const stderr = str(result.get("stderr") ?? "");
    if (stderr !== "") throw new CommandError(stderr.replaceAll("xfs_info:", "").trim());
    return parseGeometry(str(result.get("stdout") ?? ""));
  },
});

export const dump: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Dump a file system to a file or tape. level: 0 for all of it; label: of the session, by default the time; noerase: keep what\n" +
      "is on the medium. Return what xfsdump says of it.",
    "xfs.dump /dev/sda1 /detination/on/the/client",
    "xfs.dump /dev/sda1 /detination/on/the/client label='Company accountancy'",
    "xfs.dump /dev/sda1 /detination/on/the/client noerase=True",
  ),
  permissions: "all",
  params: { device: p.str(), destination: p.str(), level: p.int(0), label: p.str(null), noerase: p.any(null) },
  async run({ destination, level, label, noerase, ...bound }, context) {
    if (which("xfsdump") === undefined) {
      throw new CommandError('Utility "xfsdump" has to be installed or missing.');
    }
    const name = label || strftime(new Date(), `XFS dump for "${bound.device}" of %Y.%m.%d, %H:%M`);
    const words = ["xfsdump", "-F", ...noerase ? [] : ["-E"], "-L", name.replaceAll("'", '"'), "-l", String(level)];
    return parseDump(
      await printGeometry([...words, "-f", checkedWord(destination, "destination"), device(bound.device)], context),
    );
  },
});

export const inventory: ModuleFunction<JobContext> = fn({
  doc: describe("Return the inventory of dumps, as xfsrestore tells.", "xfs.inventory"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => parseInventory(await printGeometry(["xfsrestore", "-I"], context)),
});

export const prune_dump: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove a session from the inventory of dumps. Return what it was.",
    "xfs.prune_dump b74a3586-e52e-4a4a-8775-c3334fa8ea2c",
  ),
  permissions: "all",
  params: { sessionid: p.str() },
  async run({ sessionid }, context) {
    const listing = await printGeometry(["xfsinvutil", "-s", checkedWord(sessionid, "session"), "-F"], context);
    const pruned = parsePruned(listing, sessionid);
    if (Object.keys(pruned).length === 0) throw new CommandError(`Session UUID "${sessionid}" was not found.`);
    return pruned;
  },
});

export const devices: ModuleFunction<JobContext> = fn({
  doc: describe("Return the XFS devices, with labels and where they are mounted.", "xfs.devices"),
  permissions: "all",
  params: {},
  run: async (_bound, context) => parseDevices(await printGeometry(["blkid", "-o", "export"], context), mountsText()),
});

export const estimate: ModuleFunction<JobContext> = fn({
  doc: describe("Return how much space a directory would take on XFS.", "xfs.estimate /path/to/file"),
  permissions: "all",
  params: { path: p.str() },
  async run({ path }, context) {
    if (!lexists(path)) throw new CommandError(`Path "${path}" was not found.`);
    return parseEstimates(await printGeometry(["xfs_estimate", "-v", checkedWord(path, "path")], context));
  },
});

/** The words of one of mkfs.xfs's options, which has its own list of `key=value`. */
function optionWords(option: string, given: Value): string[] {
  if (!truthy(given)) return [];
  const list = str(given);
  if (!list.includes("=")) return [];
  if (list.split(",").some((pair) => pair.split("=").length !== 2)) {
    throw new CommandError(`Wrong parameters "${list}" for option "${option}"`);
  }
  return [option, checkedWord(list, `option ${option}`)];
}

export const mkfs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make an XFS file system on a device, whose contents are lost unless noforce=True. Return its geometry. ssize: the size of\n" +
      "sectors; bso, gmo, nmo, ino, dso, lso, rso: mkfs.xfs's options -b, -m, -n, -i, -d, -l, -r, as key=value,key=value.",
    "xfs.mkfs /dev/sda1",
    "xfs.mkfs /dev/sda1 dso='su=32k,sw=6' noforce=True",
    "xfs.mkfs /dev/sda1 dso='su=32k,sw=6' lso='logdev=/dev/sda2,size=10000b'",
  ),
  permissions: "all",
  params: {
    device: p.str(),
    label: p.str(null),
    ssize: p.str(null),
    noforce: p.any(null),
    bso: p.any(null),
    gmo: p.any(null),
    ino: p.any(null),
    lso: p.any(null),
    rso: p.any(null),
    nmo: p.any(null),
    dso: p.any(null),
  },
  async run({ label, ssize, noforce, bso, gmo, nmo, ino, dso, lso, rso, ...bound }, context) {
    const options = Object.entries({ "-b": bso, "-m": gmo, "-n": nmo, "-i": ino, "-d": dso, "-l": lso, "-r": rso });
    const words = [
      "mkfs.xfs",
      ...label ? ["-L", checkedWord(label, "label")] : [],
      ...ssize ? ["-s", checkedWord(ssize, "size")] : [],
      ...options.flatMap(([option, given]) => optionWords(option, given)),
      ...noforce ? [] : ["-f"],
    ];
    return parseGeometry(await printGeometry([...words, device(bound.device)], context));
  },
});

export const modify: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change a file system that is not mounted: its label, whether it counts lazily, its uuid (True: a new one, False: none). Return\n" +
      "the device.",
    "xfs.modify /dev/sda1 label='My backup' lazy_counting=False",
    "xfs.modify /dev/sda1 uuid=False",
    "xfs.modify /dev/sda1 uuid=True",
  ),
  permissions: "all",
  params: { device: p.str(), label: p.str(null), lazy_counting: p.any(null), uuid: p.any(null) },
  async run({ label, lazy_counting, uuid, ...bound }, context) {
    if (!label && lazy_counting === null && uuid === null) {
      throw new CommandError(`Nothing specified for modification for "${bound.device}" device`);
    }
    const choice = (option: string, given: Value, [no, yes]: readonly [string, string]) =>
      given === false ? [option, no] : truthy(given) ? [option, yes] : [];
    await printGeometry([
      "xfs_admin",
      ...label ? ["-L", checkedWord(label, "label")] : [],
      ...choice("-c", lazy_counting, ["0", "1"]),
      ...choice("-U", uuid, ["nil", "generate"]),
      device(bound.device),
    ], context);
    return parseDevices(await printGeometry(["blkid", "-o", "export", device(bound.device)], context), mountsText());
  },
});

export const defragment: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Defragment a mounted file system, by its device. Return what xfs_fsr says, as `log`.",
    "xfs.defragment /dev/sda1",
  ),
  permissions: "all",
  params: { device: p.str() },
  async run(bound, context) {
    if (bound.device === "/") throw new CommandError("Root is not a device.");
    if (!xfsMounts(mountsText()).has(bound.device)) throw new CommandError(`Device "${bound.device}" is not mounted`);
    return { log: await printGeometry(["xfs_fsr", device(bound.device)], context) };
  },
});
