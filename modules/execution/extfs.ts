/**
 * Execution module `extfs`: ext file systems.
 * Source: the functions of Salt 3008.3 `salt/modules/extfs.py`.
 * @module
 */

import { callRunAll, runTool } from "./_file_host.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import {
  extOptionWords,
  MKFS_OPTIONS,
  parseDumpe2fs,
  TUNE_OPTIONS,
  withoutProgress,
} from "#lib/host/storage/ext_file_system.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

function textsOf(kwargs: ValueMap): Map<string, string> {
  return new Map([...kwargs].map(([key, value]) => [str(key), str(value)]));
}

/** The lines that a program says, or with `full` all that became of it, these as its `comment`. */
async function outputLines(
  words: readonly string[],
  context: JobContext,
  { full, lines = (all) => all }: { readonly full: boolean; readonly lines?: (all: string[]) => string[] },
): Promise<unknown> {
  const result = await callRunAll(context, words);
  const comment = lines(splitLines(`${str(result.get("stdout") ?? "")}\n${str(result.get("stderr") ?? "")}`));
  return full ? result.set("comment", comment) : comment;
}

export const mkfs: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make an ext file system on a device, whose contents are lost. Return the output of mke2fs; with full_return=True, its whole\n" +
      `result. Keywords are its options: ${Object.keys(MKFS_OPTIONS).join(", ")}.`,
    "extfs.mkfs /dev/sda1 fs_type=ext4 opts='acl,noexec'",
  ),
  permissions: "all",
  params: { device: p.str(), fs_type: p.str(), full_return: p.bool(false) },
  varKwargs: "kwargs",
  run({ device, fs_type, full_return }, context, { kwargs }) {
    const options = extOptionWords(textsOf(kwargs), MKFS_OPTIONS);
    const words = ["mke2fs", "-F", "-t", checkedWord(fs_type, "type"), ...options, checkedWord(device, "device")];
    return outputLines(words, context, { full: full_return, lines: withoutProgress });
  },
});

export const tune: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Change the parameters of an ext file system. Return the output of tune2fs; with full_return=True, its whole result. Keywords are\n" +
      `its options: ${Object.keys(TUNE_OPTIONS).join(", ")}.`,
    "extfs.tune /dev/sda1 force=True label=wildstallyns opts='acl,noexec'",
  ),
  permissions: "all",
  params: { device: p.str(), full_return: p.bool(false) },
  varKwargs: "kwargs",
  run({ device, full_return }, context, { kwargs }) {
    const words = ["tune2fs", ...extOptionWords(textsOf(kwargs), TUNE_OPTIONS), checkedWord(device, "device")];
    return outputLines(words, context, { full: full_return });
  },
});

async function dumpFilesystem(
  device: string,
  args: string | null,
  context: JobContext,
): Promise<ReturnType<typeof parseDumpe2fs>> {
  const words = ["dumpe2fs", checkedWord(device, "device"), ...args ? [`-${args}`] : []];
  return parseDumpe2fs((await runTool(context, words, { joined: true })).stdout);
}

const DUMP = { device: p.str(), args: p.str(null) };

export const dump: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the `attributes` and the `blocks` of an ext file system, as dumpe2fs tells.",
    "extfs.dump /dev/sda1",
  ),
  permissions: "all",
  params: DUMP,
  run: ({ device, args }, context) => dumpFilesystem(device, args, context),
});

export const attributes: ModuleFunction<JobContext> = fn({
  doc: describe("Return the attributes of an ext file system, as dumpe2fs tells.", "extfs.attributes /dev/sda1"),
  permissions: "all",
  params: DUMP,
  run: async ({ device, args }, context) => (await dumpFilesystem(device, args, context)).attributes,
});

export const blocks: ModuleFunction<JobContext> = fn({
  doc: describe("Return the groups of blocks of an ext file system, as dumpe2fs tells.", "extfs.blocks /dev/sda1"),
  permissions: "all",
  params: DUMP,
  run: async ({ device, args }, context) => (await dumpFilesystem(device, args, context)).blocks,
});
