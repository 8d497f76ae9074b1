/**
 * Parsers for the output of the XFS programs. Source: Salt 3008.3, `salt/modules/xfs.py`; xfs_info(8), xfsdump(8),
 * xfsrestore(8), xfsinvutil(8), xfs_estimate(8), blkid(8).
 * @module
 */

/** The geometry that xfs_info, xfs_growfs and mkfs.xfs print: keys and values by section. */
export function parseGeometry(text: string): Map<string, Record<string, string>> {
  const sections = new Map<string, Record<string, string>>();
  let current: Record<string, string> = {};
  for (const raw of text.split("\n")) {
    const line = raw.replace(/\s+/g, " ").trim().replaceAll(", ", " ");
    if (!line.includes("=")) continue;
    const pairs = keysAndValues(line);
    if (!line.startsWith("=")) {
      const [name, section] = pairs.shift() ?? ["", ""];
      current = { section: section === "***" ? name : section };
      sections.set(name, current);
    }
    Object.assign(current, Object.fromEntries(pairs));
  }
  return sections;
}

/** One line: keys have no blanks, values may. A section without its own value gets `***`. */
function keysAndValues(line: string): [string, string][] {
  const plain = (line.startsWith("=") ? line.slice(1).trim() : line).replaceAll(" = ", "=*** ").replaceAll(" =", "=");
  const pairs: string[] = [];
  for (const token of plain.split(" ")) {
    if (pairs.length === 0 || token.includes("=")) pairs.push(token);
    else pairs[pairs.length - 1] += ` ${token}`;
  }
  return pairs.map((pair): [string, string] => {
    const [key, value = ""] = pair.split("=");
    return [key, value];
  });
}

/** Labels in the output of xfsdump, and Salt's names for them. */
const DUMP_LINES: readonly (readonly [RegExp, string])[] = [
  [/^session id:.* (\S*)$/, "Session ID"],
  [/^session label: ?(.*)$/, "Session label"],
  [/^media file size\s*(.*)$/, "Media size"],
  [/^dump complete:\s*(.*)$/, "Dump complete"],
  [/^Dump Status:\s*(.*)$/, "Status"],
];

/** Parses the output of xfsdump: the result of a dump. */
export function parseDump(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  const summary: string[] = [];
  let inSummary = false;
  for (const raw of text.split("\n")) {
    const line = raw.trim().replace(/^xfsdump: /, "");
    if (line.startsWith("Dump Summary:")) inSummary = true;
    else if (inSummary && line.startsWith(" ")) summary.push(line.trim());
    else inSummary = false;
    for (const [form, name] of DUMP_LINES) {
      const match = form.exec(line);
      if (match !== null) fields.set(name, match[1]);
    }
  }
  if (summary.length > 0) fields.set("Summary", summary.join(" "));
  return fields;
}

/** A level of the inventory: texts, and levels below it. */
export interface Inventory {
  [name: string]: string | Inventory;
}

/** The inventory of dumps that `xfsrestore -I` prints, by its indentation; the last line is the `restore_status`. */
export function parseInventory(text: string): Inventory {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const last = lines.at(-1) ?? "";
  if (lines.length === 1 && last.toLowerCase().includes("restore status")) return { restore_status: last };
  const root: Inventory = {};
  const levels: { readonly depth: number; readonly level: Inventory }[] = [{ depth: -1, level: root }];
  for (const line of lines.slice(0, -1)) {
    const depth = /^\t*/.exec(line)![0].length;
    while (levels.length > 1 && levels.at(-1)!.depth >= depth) levels.pop();
    const [name, ...value] = line.trim().split(":");
    const above = levels.at(-1)!.level;
    if (value.join(":").trim() !== "") {
      above[name.trim()] = value.join(":").trim();
      continue;
    }
    const level: Inventory = {};
    above[name] = level;
    levels.push({ depth, level });
  }
  root.restore_status = last;
  return root;
}

/**
 * Parses the output of xfsinvutil: the pruned dump, from the lines between two rules; empty unless it is the requested
 * session.
 */
export function parsePruned(text: string, session: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line !== "").map((line) => line.trim());
  const first = lines.findIndex((line) => line.startsWith("-"));
  const below = first < 0 ? [] : lines.slice(first + 1);
  const end = below.findIndex((line) => line.startsWith("-"));
  const fields = (end < 0 ? below : below.slice(0, end)).slice(1).filter((line) => line.includes(":"));
  const pruned = Object.fromEntries(fields.map((line) => {
    const at = line.indexOf(":");
    return [line.slice(0, at).trim().toLowerCase().replaceAll(" ", "_"), line.slice(at + 1).trim()];
  }));
  return pruned.uuid === session ? pruned : {};
}

/** One XFS device of `blkid -o export`, with its mount point. */
export type XfsDevice = Record<string, string | null | readonly string[]>;

/** The XFS devices of `blkid -o export` and of the text of `/proc/mounts`. */
export function parseDevices(text: string, mounts: string): Map<string, XfsDevice> {
  const devices = new Map<string, XfsDevice>();
  for (const block of text.split("\n\n").filter((one) => one.trim() !== "")) {
    const { type, devname = "", ...more }: Record<string, string> = Object.fromEntries(
      block.trim().split("\n").filter((line) => line.trim() !== "").map((line) => {
        const at = line.indexOf("=");
        return [line.slice(0, at).toLowerCase(), line.slice(at + 1)];
      }),
    );
    if (type === "xfs") devices.set(devname, { ...more, label: more.label ?? null });
  }
  for (const [device, mount] of xfsMounts(mounts)) {
    const own = devices.get(device);
    if (own !== undefined) Object.assign(own, mount);
  }
  return devices;
}

/** The mounted XFS devices of `/proc/mounts`. */
export function xfsMounts(text: string): Map<string, { mount_point: string; options: string[] }> {
  const rows = text.split("\n").map((line) => line.trim().split(" ")).filter(([, , type]) => type === "xfs");
  return new Map(rows.map(([device, mount_point, , options = ""]) => [device, {
    mount_point,
    options: options.split(","),
  }]));
}

/** Parses the output of xfs_estimate for directories. The blank in a key is Salt's. */
export function parseEstimates(text: string): Map<string, Record<string, string>> {
  const rows = text.split("\n").filter((line) => line.trim() !== "").slice(1).map((line) => line.split(/\s+/));
  return new Map(
    rows.map(([directory, size, blocks, megabytes, logsize]) => [
      directory,
      { "block _size": size, blocks, megabytes, logsize },
    ]),
  );
}
