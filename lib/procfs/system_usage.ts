/**
 * The use of the host's processors, memory, disks and network, in the form of psutil.
 * Source: psutil 7.2 (documentation and results); proc(5).
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { float, type Value } from "#lib/values/value.ts";
import { TICKS } from "./process_attributes.ts";

const CPU_FIELDS = [
  "user",
  "nice",
  "system",
  "idle",
  "iowait",
  "irq",
  "softirq",
  "steal",
  "guest",
  "guest_nice",
] as const;

/** Seconds of a processor, by activity. */
export type CpuTimes = Readonly<Record<(typeof CPU_FIELDS)[number], number>>;

/** The times of `/proc/stat`: of all processors together, and of each. */
export function parseCpuTimes(stat: string): { readonly all: CpuTimes; readonly each: CpuTimes[] } {
  const lines = [...stat.matchAll(/^cpu\d* .*$/gm)].map(([line]) => {
    const ticks = line.trim().split(/\s+/).slice(1).map(Number);
    return Object.fromEntries(CPU_FIELDS.map((name, i) => [name, (ticks[i] ?? 0) / TICKS])) as CpuTimes;
  });
  return { all: lines[0], each: lines.slice(1) };
}

/** The use of a processor between two times, in percent with one digit. */
export function busyPercent(before: CpuTimes, after: CpuTimes): number {
  const timeSpent = (name: (typeof CPU_FIELDS)[number]) => Math.max(0, after[name] - before[name]);
  // The time of guests is already included in user and nice.
  const all = CPU_FIELDS.slice(0, -2).reduce((sum, name) => sum + timeSpent(name), 0);
  return all === 0 ? 0 : roundPercent((all - timeSpent("idle") - timeSpent("iowait")) / all * 100);
}

/** A percentage with one digit. */
function roundPercent(percent: number): number {
  return Math.round(percent * 10) / 10;
}

function percentOf(part: number, whole: number): Value {
  return float(whole === 0 ? 0 : roundPercent(part / whole * 100));
}

/** Bytes by the names of `/proc/meminfo`. */
function memoryFields(meminfo: string): (name: string) => number {
  const fields = new Map(
    [...meminfo.matchAll(/^([^:\n]+):\s+(\d+)/gm)].map(([, name, value]) => [name, Number(value) * 1024]),
  );
  return (name) => fields.get(name) ?? 0;
}

/** The memory, in bytes. */
export function virtualMemory(meminfo: string): Record<string, Value> {
  const field = memoryFields(meminfo);
  const total = field("MemTotal"), free = field("MemFree");
  const reported = field("MemAvailable") || free + field("Cached");
  const available = reported > total ? free : reported;
  return {
    total,
    available,
    percent: percentOf(total - available, total),
    used: total - available,
    free,
    active: field("Active"),
    inactive: field("Inactive"),
    buffers: field("Buffers"),
    cached: field("Cached") + field("SReclaimable"),
    shared: field("Shmem"),
    slab: field("Slab"),
  };
}

const SWAP_PAGE = 4096;

/** The swap space, and what was swapped in and out since the start, in bytes. */
export function swapMemory(meminfo: string, vmstat: string): Record<string, Value> {
  const field = memoryFields(meminfo);
  const total = field("SwapTotal"), free = field("SwapFree");
  const pages = (name: string) =>
    Number(new RegExp(`^${escapeRegex(name)} (\\d+)$`, "m").exec(vmstat)?.[1] ?? 0) * SWAP_PAGE;
  return {
    total,
    used: total - free,
    free,
    percent: percentOf(total - free, total),
    sin: pages("pswpin"),
    sout: pages("pswpout"),
  };
}

/** One mounted file system. */
export interface Partition {
  readonly device: string;
  readonly mountpoint: string;
  readonly fstype: string;
  readonly opts: string;
}

/**
 * The mounts of `/proc/self/mounts`.
 * @param types Those of devices, as `/proc/filesystems` lists them; `undefined`: all are shown.
 */
export function parsePartitions(mounts: string, types: readonly string[] | undefined): Partition[] {
  const plain = (text: string) =>
    text.replace(/\\([0-7]{3})/g, (_all, octal: string) => String.fromCharCode(parseInt(octal, 8)));
  return mounts.split("\n").filter((line) => line !== "").map((line) => line.split(" ").map(plain)).map((
    [device, mountpoint, fstype, opts],
  ) => ({ device: device === "none" ? "" : device, mountpoint, fstype, opts }))
    .filter(({ device, fstype }) => types === undefined || (device !== "" && types.includes(fstype)));
}

/** The types of file systems that are on devices. */
export function deviceTypes(filesystems: string): string[] {
  const lines = filesystems.split("\n").map((line) => line.trim());
  return lines.flatMap((line) => {
    if (line === "") return [];
    const [first, second] = line.split(/\s+/);
    if (!line.startsWith("nodev")) return [first];
    return second === "zfs" ? ["zfs"] : [];
  });
}

/** The use of a file system. */
export function diskUsage(
  stat: { bsize: number; blocks: number; bfree: number; bavail: number },
): Record<string, Value> {
  const total = stat.blocks * stat.bsize, used = total - stat.bfree * stat.bsize, free = stat.bavail * stat.bsize;
  return { total, used, free, percent: percentOf(used, used + free) };
}

/** The counters of an interface, in the order of psutil. */
export const NETWORK_FIELDS: readonly string[] = [
  "bytes_sent",
  "bytes_recv",
  "packets_sent",
  "packets_recv",
  "errin",
  "errout",
  "dropin",
  "dropout",
];

/** The counts of `/proc/net/dev` by interface. */
export function parseNetworkCounters(text: string): Map<string, number[]> {
  return new Map(
    text.split("\n").slice(2).filter((line) => line.includes(":")).map((line) => {
      const colon = line.lastIndexOf(":");
      const n = line.slice(colon + 1).trim().split(/\s+/).map(Number);
      return [line.slice(0, colon).trim(), [n[8], n[0], n[9], n[1], n[2], n[10], n[3], n[11]]];
    }),
  );
}

const DISK_FIELDS = [
  ...["read_count", "write_count", "read_bytes", "write_bytes", "read_time", "write_time", "read_merged_count"],
  ...["write_merged_count", "busy_time"],
];
const SECTOR = 512;

/** The counts of `/proc/diskstats` by device. */
export function parseDiskCounters(text: string): Map<string, number[]> {
  return new Map(
    text.split("\n").map((line) => line.trim().split(/\s+/)).filter(({ length }) => length >= 14).map(
      ([, , name, ...words]) => {
        const n = words.map(Number);
        return [name, [n[0], n[4], n[2] * SECTOR, n[6] * SECTOR, n[3], n[7], n[1], n[5], n[9]]];
      },
    ),
  );
}

/** Whether a device is a whole disk, no partition of one. */
export function isWholeDisk(name: string): boolean {
  return lexistsOrThrow(`/sys/block/${name.replaceAll("/", "!")}`);
}

/** Counts by name: of one, or the sums of several. */
export function counters(kind: "network" | "disk", rows: readonly (readonly number[])[]): Map<string, number> {
  const fields = kind === "network" ? NETWORK_FIELDS : DISK_FIELDS;
  return new Map(fields.map((name, i) => [name, rows.reduce((sum, row) => sum + row[i], 0)]));
}
