/**
 * The device of a mount, under the name by which the kernel shows it.
 * Source: Salt 3008.3 `salt/states/mount.py` mounted.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import { texts } from "./options.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { dirName } from "#lib/os/paths.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** What is mounted, by place, with blanks as in /proc/mounts. */
export async function activeMounts(context: StateContext): Promise<ValueMap> {
  return mapOrEmpty(await context.call("mount.active", [], new Map([["extended", true]])));
}

/** The entry of a place; empty if nothing is mounted there. */
export function entryOf(active: ValueMap, place: string): ValueMap {
  return mapOrEmpty(active.get(place));
}

/** A path as /proc/mounts shows it. */
export function shownPath(path: string): string {
  return path.replaceAll(" ", "\\040");
}

/** The device that a mount stands for, and what that makes of its options. */
export interface FoundDevice {
  readonly device: string;
  /** Other names that count as the same. */
  readonly aliases: readonly string[];
  /** The options that are wanted: of a bind mount, with those of what it binds. */
  readonly opts: readonly string[];
  /** Whether `bind` counts as an option that is active. */
  readonly isBound: boolean;
}

interface DeviceRequest {
  readonly device: string;
  readonly opts: readonly string[];
  /** The place, as the kernel shows it. */
  readonly place: string;
  readonly active: ValueMap;
  /** Whether a bind mount takes over the options of what it binds. */
  readonly copiesOptions: boolean;
}

/**
 * Finds the device.
 * @returns It, or what is wrong.
 */
export async function findDevice(request: DeviceRequest, context: StateContext): Promise<FoundDevice | string> {
  const { device, opts } = request;
  const describeDevice = (name: string, aliases: readonly string[] = []): FoundDevice => (
    { device: canonical(device) ?? name, aliases, opts, isBound: false }
  );
  if (device.startsWith("/")) {
    if (opts.includes("bind") && request.active.has(request.place)) return boundDevice(request);
    return describeDevice(realPath(device));
  }
  const [kind, value = ""] = device.split("=");
  if (kind.toUpperCase() === "UUID") return describeDevice(stripChars(value, '"').toLowerCase());
  if (kind.toUpperCase() !== "LABEL") return describeDevice(device);
  const answer = await context.call("cmd.run_all", [`blkid -t LABEL=${value}`]);
  const stdout = isMap(answer) && answer.get("retcode") === 0 ? str(answer.get("stdout") ?? "") : "";
  const devices = splitLines(stdout).map((line) => line.split(":")[0]);
  return devices.length === 0 ? `Unable to find device with label ${value}.` : describeDevice(devices[0], devices);
}

/** The name under which the kernel shows a logical volume, or the device of a FUSE file system. */
function canonical(device: string): string | undefined {
  const volume = /^\/dev\/([^/]+)\/([^/]+)$/.exec(device);
  const fuse = /^\w+#(.+)/.exec(device)?.[1];
  if (fuse !== undefined || volume === null) return fuse;
  const [group, name] = volume.slice(1).map((part) => part.replaceAll("-", "--"));
  const mapper = `/dev/mapper/${group}-${name}`;
  return existsOrThrow(mapper) ? mapper : undefined;
}

function allOptions(opts: readonly string[], entry: ValueMap): string[] {
  const all = new Set([...opts, ...texts(entry.get("opts")), ...texts(entry.get("superopts"))]);
  return [...all].sort(compareStrings);
}

/** The device of an existing bind mount: that of the mount of its source. */
function boundDevice({ device, opts, place, active, copiesOptions }: DeviceRequest): FoundDevice {
  const own = str(entryOf(active, place).get("device") ?? "");
  let source = shownPath(device);
  if (own.startsWith("/")) {
    while (!active.has(source) && source !== "/") source = dirName(source.replaceAll("\\040", " "));
  }
  const entry = active.has(source) ? entryOf(active, source) : undefined;
  const wanted: Value = own.startsWith("/") ? entry?.get("device") ?? realPath(device) : own;
  return {
    device: canonical(device) ?? str(wanted),
    aliases: [],
    opts: entry !== undefined && copiesOptions ? allOptions(opts, entry) : opts,
    isBound: entry !== undefined,
  };
}
