/**
 * Linux's `/proc` statistics of the whole host, as `status.*` shows them: one pure function for each file's text.
 * Source: proc(5); Salt 3008.3, `salt/modules/status.py`, for names and shapes.
 * @module
 */

import { float, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** A number in `/proc`: an int, a float, or the text itself if it is neither. */
export function parseProcNumber(text: string): Value {
  if (/^\d+$/.test(text)) {
    const n = Number(text);
    return Number.isSafeInteger(n) ? n : BigInt(text);
  }
  return /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text) ? float(Number(text)) : text;
}

function rows(text: string): string[][] {
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => line.trim().split(/\s+/));
}

/** `/proc/uptime`: whole seconds since the host started. */
export function parseUptime(text: string): number {
  return Math.floor(Number(text.split(" ", 1)[0]));
}

/**
 * `/proc/stat`: the times of all processors together (`cpu`), the totals and single counts of `intr` and `softirq`, and
 * the first number of every other line.
 */
export function parseCpuStats(text: string): ValueMap {
  const stats: ValueMap = new Map();
  for (const [name, ...fields] of rows(text)) {
    const numbers = fields.map(parseProcNumber);
    if (name === "cpu") {
      const [user, nice, system, idle, iowait, irq, softirq, steal] = numbers;
      stats.set(name, map({ idle, iowait, irq, nice, softirq, steal, system, user }));
    } else if (name === "intr") {
      stats.set(name, map({ total: numbers[0], irqs: numbers.slice(1) }));
    } else if (name === "softirq") {
      stats.set(name, map({ total: numbers[0], softirqs: numbers.slice(1) }));
    } else {
      stats.set(name, numbers[0]);
    }
  }
  return stats;
}

/** `/proc/meminfo`: for each name a `value`, as text, and its `unit` if it has one. */
export function parseMeminfo(text: string): ValueMap {
  return new Map(
    rows(text).map((
      [name, value, unit],
    ) => [name.replaceAll(":", ""), map({ value, ...unit === undefined ? {} : { unit } })]),
  );
}

/** `/proc/cpuinfo`: the fields of the last processor, as text; `flags` is a list. */
export function parseCpuinfo(text: string): ValueMap {
  const info: ValueMap = new Map();
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 0) continue;
    const name = line.slice(0, colon).trim();
    const value = line.slice(colon + 1).trim();
    info.set(name, name === "flags" ? value.split(/\s+/) : value);
  }
  return info;
}

const DISK_FIELDS = [
  "major",
  "minor",
  "device",
  "reads_issued",
  "reads_merged",
  "sectors_read",
  "ms_spent_reading",
  "writes_completed",
  "writes_merged",
  "sectors_written",
  "ms_spent_writing",
  "io_in_progress",
  "ms_spent_in_io",
  "weighted_ms_spent_in_io",
];

/** `/proc/diskstats`: for each device its counts. */
export function parseDiskstats(text: string): ValueMap {
  const long = rows(text).filter((fields) => fields.length >= DISK_FIELDS.length);
  return new Map(
    long.map((fields) => [fields[2], new Map(DISK_FIELDS.map((name, i) => [name, parseProcNumber(fields[i])]))]),
  );
}

/** `/proc/vmstat`: counts by name. */
export function parseVmstats(text: string): ValueMap {
  return new Map(rows(text).map(([name, value]) => [name, parseProcNumber(value)]));
}

/**
 * `/proc/net/netstat` and the like, where a line of names comes before a line of numbers: counts by name, by protocol.
 */
export function parseNetstats(text: string): ValueMap {
  const stats: ValueMap = new Map();
  let header: string[] = [];
  for (const fields of rows(text)) {
    if (fields[0] === header[0]) {
      stats.set(
        fields[0].replaceAll(":", ""),
        new Map(header.slice(1).map((name, i) => [name, parseProcNumber(fields[i + 1])])),
      );
    } else {
      header = fields;
    }
  }
  return stats;
}

const NETDEV_FIELDS = [
  "rx_bytes",
  "rx_packets",
  "rx_errs",
  "rx_drop",
  "rx_fifo",
  "rx_frame",
  "rx_compressed",
  "rx_multicast",
  "tx_bytes",
  "tx_packets",
  "tx_errs",
  "tx_drop",
  "tx_fifo",
  "tx_colls",
  "tx_carrier",
  "tx_compressed",
];

/** `/proc/net/dev`: for each interface its name (`iface`) and its counts. */
export function parseNetdev(text: string): ValueMap {
  const devices: ValueMap = new Map();
  for (const line of text.split("\n")) {
    const colon = line.lastIndexOf(":");
    if (colon < 0) continue;
    const iface = line.slice(0, colon).trim();
    const numbers = line.slice(colon + 1).trim().split(/\s+/).map(parseProcNumber);
    devices.set(
      iface,
      new Map<Value, Value>([["iface", iface], ...NETDEV_FIELDS.map((name, i): [Value, Value] => [name, numbers[i]])]),
    );
  }
  return devices;
}

/** One line of `/proc/mounts`. */
export interface Mount {
  /** Where it is mounted. */
  readonly path: string;
  /** The type of the file system. */
  readonly type: string;
}

/** `/proc/mounts`: all mounts; a path that is mounted twice appears twice. */
export function parseMounts(text: string): Mount[] {
  const unescape = (path: string) =>
    path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
  return rows(text).flatMap(([, path, type]) => type === undefined ? [] : [{ path: unescape(path), type }]);
}

/** The number of processors that a process may use, from its `/proc/<pid>/status`; 0 if unknown. */
export function parseAllowedCpus(text: string): number {
  const mask = /^Cpus_allowed:\s*([0-9a-f,]+)$/m.exec(text)?.[1] ?? "";
  return [...mask.replaceAll(",", "")].reduce((sum, digit) => {
    const bits = parseInt(digit, 16).toString(2).replaceAll("0", "");
    return sum + bits.length;
  }, 0);
}
