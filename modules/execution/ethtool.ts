/**
 * Execution module `ethtool`: rings, interrupts, offloads and pause frames of network devices, with that program.
 * Source: the functions of Salt 3008.3 `salt/modules/ethtool.py`; ethtool(8).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, type ProgramResult, requireProgram, runProgram } from "#lib/programs/run_program.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["ethtool"], otherwise: "The ethtool module could not be loaded: ethtool is not installed." }],
};

/** Parameters of interrupts by Salt's names, with the words of ethtool. */
const COALESCE: Readonly<Record<string, string>> = {
  pkt_rate_high: "pkt-rate-high",
  pkt_rate_low: "pkt-rate-low",
  sample_interval: "sample-interval",
  rx_usecs: "rx-usecs",
  rx_usecs_high: "rx-usecs-high",
  rx_usecs_irq: "rx-usecs-irq",
  rx_usecs_low: "rx-usecs-low",
  rx_frames: "rx-frames",
  rx_frames_high: "rx-frames-high",
  // Salt's name of it.
  rx_frames_irg: "rx-frames-irq",
  rx_frames_low: "rx-frames-low",
  stats_block_usecs: "stats-block-usecs",
  tx_usecs: "tx-usecs",
  tx_usecs_high: "tx-usecs-high",
  tx_usecs_irq: "tx-usecs-irq",
  tx_usecs_low: "tx-usecs-low",
  tx_frames: "tx-frames",
  tx_frames_high: "tx-frames-high",
  tx_frames_irq: "tx-frames-irq",
  tx_frames_low: "tx-frames-low",
  adaptive_rx: "adaptive-rx",
  adaptive_tx: "adaptive-tx",
};
const RINGS: Readonly<Record<string, string>> = { rx: "RX", rx_mini: "RX Mini", rx_jumbo: "RX Jumbo", tx: "TX" };
const FEATURES = ["rx", "tx", "sg", "tso", "ufo", "gso", "gro", "lro", "rxvlan", "txvlan", "ntuple", "rxhash"];
const PAUSES = ["autoneg", "rx", "tx"];

function ethtool(words: readonly string[], context: JobContext): Promise<ProgramResult> {
  return runProgram([requireProgram("ethtool"), ...words], context, { joined: true });
}

/** What ethtool shows of a device; `undefined`: the device does not have it. */
async function shown(option: string, devname: string, context: JobContext): Promise<string[] | undefined> {
  const { retcode, stdout } = await ethtool([option, checkedWord(devname, "device")], context);
  return retcode === 0 ? splitLines(stdout) : undefined;
}

/** Lines of a name and a value. */
function pairs(lines: readonly string[]): [name: string, value: string][] {
  return lines.filter((line) => line.includes(":")).map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
}

/** A number; 0 for what the device does not have. */
function numberOf(text: string | undefined): number {
  return text === undefined || !/^\d+$/.test(text) ? 0 : Number(text);
}

async function ringOf(devname: string, context: JobContext): Promise<ValueMap | undefined> {
  const lines = await shown("-g", devname, context);
  if (lines === undefined) return undefined;
  const at = lines.findIndex((line) => line.startsWith("Current hardware settings"));
  const [most, current] = [lines.slice(0, at), lines.slice(at)].map((part) => new Map(pairs(part)));
  return new Map(
    Object.entries(RINGS).flatMap(([name, word]): [Value, Value][] => [
      [`${name}_max`, numberOf(most.get(word))],
      [name, numberOf(current.get(word))],
    ]),
  );
}

async function coalesceOf(devname: string, context: JobContext): Promise<ValueMap | undefined> {
  const lines = await shown("-c", devname, context);
  if (lines === undefined) return undefined;
  const values = new Map(pairs(lines).map(([name, value]) => [name.replace("-frame-", "-frames-"), value]));
  const adaptive = /^(\S+)\s+TX:\s*(\S+)/.exec(values.get("Adaptive RX") ?? "");
  return new Map(
    Object.entries(COALESCE).map(([name, word]): [Value, Value] => {
      const on = name === "adaptive_rx" ? adaptive?.[1] : name === "adaptive_tx" ? adaptive?.[2] : undefined;
      return [name, on === undefined ? numberOf(values.get(word)) : on === "on" ? 1 : 0];
    }),
  );
}

/** A switch as a word; YAML makes booleans of `on` and `off`. */
function switchWord(value: Value): string {
  if (value === true || value === 1) return "on";
  return value === false || value === 0 ? "off" : str(value);
}

/** A parameter's new value as a number, with 1 and 0 for switches. */
function wantedNumber(value: Value): number | undefined {
  const word = switchWord(value);
  if (typeof value === "boolean" || word === "on" || word === "off") return word === "on" ? 1 : 0;
  return toNumber(value) ?? (/^\d+$/.test(word) ? Number(word) : undefined);
}

/** The words for parameters that differ from those of now; `undefined`: a value is no number. */
function changedWords(
  kwargs: ValueMap,
  now: ValueMap,
  words: Readonly<Record<string, string>>,
): string[] | undefined {
  const changed: string[] = [];
  for (const [key, value] of ownKeywords(kwargs)) {
    const name = str(key);
    if (!Object.hasOwn(words, name)) continue;
    const wanted = wantedNumber(value);
    if (wanted === undefined || wanted < 0) return undefined;
    if (wanted === now.get(name)) continue;
    changed.push(words[name], name.startsWith("adaptive") ? switchWord(wanted) : `${wanted}`);
  }
  return changed;
}

const DEVICE = { devname: p.str() };

export const show_ring: ModuleFunction<JobContext> = fn({
  doc: describe("Return the sizes of a device's rings, and the greatest ones.", "ethtool.show_ring <devname>"),
  permissions: "all",
  params: DEVICE,
  run: async ({ devname }, context) => await ringOf(devname, context) ?? "Not supported",
});

export const show_coalesce: ModuleFunction<JobContext> = fn({
  doc: describe("Return how a device gathers interrupts.", "ethtool.show_coalesce <devname>"),
  permissions: "all",
  params: DEVICE,
  run: async ({ devname }, context) => await coalesceOf(devname, context) ?? "Not supported",
});

export const show_driver: ModuleFunction<JobContext> = fn({
  doc: describe("Return the driver of a device, and where it is on its bus.", "ethtool.show_driver <devname>"),
  permissions: "all",
  params: DEVICE,
  async run({ devname }, context) {
    const values = new Map(pairs(await shown("-i", devname, context) ?? []));
    const driver = values.get("driver");
    return driver === undefined ? "Not implemented" : { driver, bus_info: values.get("bus-info") ?? "" };
  },
});

const RING_WORDS = { rx: "rx", rx_mini: "rx-mini", rx_jumbo: "rx-jumbo", tx: "tx" };

/** A function that sets numbers of a device, and returns what they are then. */
function setting(
  { name, text, example, option, words, read }: {
    readonly name: string;
    readonly text: string;
    readonly example: string;
    readonly option: string;
    readonly words: Readonly<Record<string, string>>;
    read(devname: string, context: JobContext): Promise<ValueMap | undefined>;
  },
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${text} Keywords: ${Object.keys(words).join(", ")}.`, `ethtool.${name} <devname> ${example}`),
    permissions: "all",
    params: DEVICE,
    varKwargs: "kwargs",
    async run({ devname }, context, { kwargs }) {
      const now = await read(devname, context);
      if (now === undefined) return "Not supported";
      const changed = changedWords(kwargs, now, words);
      if (changed === undefined) return "Invalid arguments";
      if (changed.length === 0) return now;
      const { retcode } = await ethtool([option, devname, ...changed], context);
      return retcode === 0 ? await read(devname, context) ?? "Not supported" : "Invalid arguments";
    },
  });
}

export const set_ring: ModuleFunction<JobContext> = setting({
  name: "set_ring",
  text: "Set the sizes of a device's rings. Return them.",
  example: "rx=256 tx=256",
  option: "-G",
  words: RING_WORDS,
  read: ringOf,
});

export const set_coalesce: ModuleFunction<JobContext> = setting({
  name: "set_coalesce",
  text: "Set how a device gathers interrupts. Return that.",
  example: "adaptive_rx=on rx_usecs=8",
  option: "-C",
  words: COALESCE,
  read: coalesceOf,
});

const OFFLOADS: Readonly<Record<string, string>> = {
  scatter_gather: "scatter-gather",
  tcp_segmentation_offload: "tcp-segmentation-offload",
  udp_fragmentation_offload: "udp-fragmentation-offload",
  generic_segmentation_offload: "generic-segmentation-offload",
};

async function offloads(devname: string, context: JobContext): Promise<ValueMap> {
  const values = new Map(pairs(await shown("-k", devname, context) ?? []));
  return new Map(
    Object.entries(OFFLOADS).map(([name, word]): [Value, Value] => [
      name,
      values.get(word)?.split(" ")[0] ?? "not supported",
    ]),
  );
}

export const show_offload: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what a device does in place of the processor: on, off, not supported.",
    "ethtool.show_offload <devname>",
  ),
  permissions: "all",
  params: DEVICE,
  run: ({ devname }, context) => offloads(devname, context),
});

export const set_offload: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Switch tcp_segmentation_offload of a device on or off. Return all that ethtool.show_offload returns.",
    "ethtool.set_offload <devname> tcp_segmentation_offload=on",
  ),
  permissions: "all",
  params: DEVICE,
  varKwargs: "kwargs",
  async run({ devname }, context, { kwargs }) {
    const value = kwargs.get("tcp_segmentation_offload");
    if (value !== undefined) {
      const word = switchWord(value) === "on" ? "on" : "off";
      const { retcode } = await ethtool(["-K", checkedWord(devname, "device"), "tso", word], context);
      if (retcode !== 0) return "Not supported";
    }
    return await offloads(devname, context);
  },
});

/** @throws {CommandError} With the reason, if the device does not have it. */
async function command(words: readonly string[], context: JobContext): Promise<string[]> {
  const { retcode, stdout } = await ethtool(words, context);
  const lines = splitLines(stdout);
  const [first] = lines;
  if (first !== undefined && (first.startsWith("Cannot") || retcode !== 0)) throw new CommandError(first);
  return lines;
}

/** The words of keywords that ethtool knows. */
function validWords(kwargs: ValueMap, valid: readonly string[]): string[] {
  const words = [...ownKeywords(kwargs)].flatMap(([key, value]) => {
    const name = str(key).toLowerCase();
    return valid.includes(name) ? [name, checkedWord(switchWord(value), name)] : [];
  });
  if (words.length > 0) return words;
  throw new CommandError(`None of the valid parameters were provided: ${str([...valid])}`);
}

export const show_pause: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a device sends and heeds pause frames.", "ethtool.show_pause <devname>"),
  permissions: "all",
  params: DEVICE,
  async run({ devname }, context) {
    const lines = await command(["-a", checkedWord(devname, "device")], context);
    return new Map(pairs(lines.slice(1)).map(([name, value]): [Value, Value] => [name, value === "on"]));
  },
});

export const set_pause: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set whether a device sends and heeds pause frames. Return True, or the lines that ethtool says.",
    "ethtool.set_pause <devname> autoneg=off rx=off tx=off",
  ),
  permissions: "all",
  params: DEVICE,
  varKwargs: "kwargs",
  async run({ devname }, context, { kwargs }) {
    const words = validWords(kwargs, PAUSES);
    const lines = await command(["-A", checkedWord(devname, "device"), ...words], context);
    return lines.length === 0 ? true : lines;
  },
});

export const show_features: ModuleFunction<JobContext> = fn({
  doc: describe("Return the features of a device, and which are fixed.", "ethtool.show_features <devname>"),
  permissions: "all",
  params: DEVICE,
  async run({ devname }, context) {
    const lines = await command(["-k", checkedWord(devname, "device")], context);
    return new Map(
      pairs(lines.slice(1)).map(([name, value]): [Value, Value] => {
        const fixed = value.includes("fixed");
        return [name, map({ on: (fixed ? value.split(" ")[0] : value) === "on", fixed })];
      }),
    );
  },
});

export const set_feature: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Switch features of a device. Return True, or what ethtool says. Keywords: ${FEATURES.join(", ")}.`,
    "ethtool.set_feature <devname> sg=off",
  ),
  permissions: "all",
  params: DEVICE,
  varKwargs: "kwargs",
  async run({ devname }, context, { kwargs }) {
    const words = validWords(kwargs, FEATURES);
    const lines = await command(["-K", checkedWord(devname, "device"), ...words], context);
    return lines.length === 0 ? true : lines.join("\n");
  },
});
