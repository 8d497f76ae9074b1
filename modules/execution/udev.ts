/**
 * Execution module `udev`: what udev knows of devices.
 * Source: the functions of Salt 3008.3 `salt/modules/udev.py`; udevadm(8).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { listOrEmpty, listUnder, mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { numberOfText } from "#lib/values/python_text.ts";
import { isAmong, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["udevadm"], otherwise: "udevadm is not installed" }],
};

/** A property's value: a number if Python reads one, else the text. */
function propertyValue(text: string): Value {
  return numberOfText(text) ?? text;
}

/** A device: the properties below `E`; of the other kinds of lines the text, or a list if there are several. */
function deviceOf(lines: readonly string[]): ValueMap {
  const device: ValueMap = new Map();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 0) continue;
    const [kind, data] = [line.slice(0, colon), line.slice(colon + 1).trim()];
    const equals = data.indexOf("=");
    if (kind !== "E") listUnder(device, kind).push(data);
    else if (equals >= 0) mapUnder(device, kind).set(data.slice(0, equals), propertyValue(data.slice(equals + 1)));
  }
  for (const [kind, data] of device) if (Array.isArray(data) && data.length === 1) device.set(kind, data[0]);
  return device;
}

/** The devices that udevadm prints, with an empty line between two. */
function parseDevices(output: string): ValueMap[] {
  const blocks: string[][] = [[]];
  for (const line of splitLines(output).map((line) => line.trim())) {
    if (line === "") blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.map(deviceOf).filter((device) => device.size > 0);
}

/** @throws {CommandError} With what udevadm says. */
async function devices(words: readonly string[], context: JobContext): Promise<ValueMap[]> {
  const result = await runProgram(["udevadm", "info", ...words], context, { setsRetcode: true });
  if (result.retcode !== 0) throw new CommandError(result.stderr);
  return parseDevices(result.stdout);
}

async function deviceInfo(dev: string, context: JobContext): Promise<ValueMap> {
  const kind = dev.includes("sys") ? "path" : "name";
  const [device] = await devices(["--export", "--query=all", `--${kind}=${dev}`], context);
  if (device === undefined) throw new CommandError(`udevadm tells nothing of ${dev}`);
  return device;
}

export const info: ModuleFunction<JobContext> = fn({
  doc: describe("Return all that udev knows of a device.", "udev.info /dev/sda", "udev.info /sys/class/net/eth0"),
  permissions: "all",
  params: { dev: p.str() },
  run: ({ dev }, context) => deviceInfo(dev, context),
});

/** A function that returns one part of what udev knows. */
function part(kind: string, text: string, name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(text, `udev.${name} /dev/sda`, `udev.${name} /sys/class/net/eth0`),
    permissions: "all",
    params: { dev: p.str() },
    run: async ({ dev }, context) => (await deviceInfo(dev, context)).get(kind) ?? null,
  });
}

export const env: ModuleFunction<JobContext> = part("E", "Return the properties of a device.", "env");
export const name: ModuleFunction<JobContext> = part("N", "Return the name of a device.", "name");
export const path: ModuleFunction<JobContext> = part("P", "Return the physical path of a device.", "path");
export const links: ModuleFunction<JobContext> = part("S", "Return the links that udev has made to a device.", "links");

export const exportdb: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return all that udev knows of all devices, or of those of some subsystems.",
    "udev.exportdb",
    "udev.exportdb subsystems='[usb, block]'",
  ),
  permissions: "all",
  params: { subsystems: p.any(null) },
  async run({ subsystems }, context) {
    if (subsystems !== null && !Array.isArray(subsystems)) throw new InvocationError("subsystems must be a list");
    const all = await devices(["--export-db"], context);
    if (subsystems === null) return all;
    const wanted = listOrEmpty(subsystems);
    return all.filter((device) => isAmong(mapOrEmpty(device.get("E")).get("SUBSYSTEM") ?? null, wanted));
  },
});
