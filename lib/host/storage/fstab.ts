/**
 * The tables of file systems that are mounted at boot: `/etc/fstab`, and Solaris' `/etc/vfstab`, whose lines Salt
 * writes on any system. Source: Salt 3008.3, `salt/modules/mount.py`; fstab(5).
 * @module
 */

import { linesWithEnds } from "#lib/text/split_lines.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { isFile } from "#lib/os/file_kind.ts";

/** How the lines of a table are read and written. */
export interface TableForm {
  /** The fields of a line, in order. */
  readonly fields: readonly string[];
  /** The fields that a line must have at least; the others are 0. */
  readonly required: number;
  /** A line with these fields, its end included. */
  format(entry: TableEntry): string;
  /** Types of file systems that are identified by their mount point, not by their device. */
  readonly special: readonly string[];
}

/** The fields of a line. */
export type TableEntry = Readonly<Record<string, string>>;

export const FSTAB: TableForm = {
  fields: ["device", "name", "fstype", "opts", "dump", "pass_num"],
  required: 4,
  format: (e) => `${e.device}\t\t${e.name}\t${e.fstype}\t${e.opts}\t${e.dump} ${e.pass_num}\n`,
  special: [
    ...["none", "tmpfs", "sysfs", "proc", "fusectl", "debugfs", "securityfs", "devtmpfs", "cgroup", "nfs", "nfs4"],
    ...["glusterfs", "btrfs", "ceph"],
  ],
};

export const VFSTAB: TableForm = {
  fields: ["device", "device_fsck", "name", "fstype", "pass_fsck", "mount_at_boot", "opts"],
  required: 7,
  format: (e) =>
    `${e.device.padEnd(11)} ${e.device_fsck.padEnd(3)} ${e.name.padEnd(19)} ${e.fstype.padEnd(8)} ` +
    `${e.pass_fsck.padEnd(3)} ${e.mount_at_boot.padEnd(6)} ${e.opts}\n`,
  special: ["devfs", "proc", "ctfs", "objfs", "sharefs", "fs", "tmpfs"],
};

/** The fields of a line; `undefined` if it is a comment or no entry. */
function parseLine(line: string, { fields, required }: TableForm): TableEntry | undefined {
  const words = line.trim().split(/\s+/);
  if (line.startsWith("#") || words.length < required || words.length > fields.length) return undefined;
  return Object.fromEntries(fields.map((field, i) => [field, words[i] ?? "0"]));
}

/** Whether an entry has these values; options may be in another order. */
function matches(entry: TableEntry, wanted: TableEntry): boolean {
  const sortOptions = (opts: string) => opts.split(",").sort().join(",");
  return Object.entries(wanted).every(([field, value]) =>
    field === "opts" ? sortOptions(entry.opts ?? "") === sortOptions(value) : entry[field] === value
  );
}

/** @throws {CommandError} If it cannot be read. */
function readTable(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    throw new CommandError(`Couldn't read from ${path}: ${pythonOsError(error, path)}`);
  }
}

/** @throws {CommandError} If it cannot be written. */
function writeTable(path: string, lines: readonly string[]): void {
  try {
    replaceFile(realPath(path), new TextEncoder().encode(lines.join("")));
  } catch (error) {
    throw new CommandError(`Couldn't write to ${path}: ${pythonOsError(error, path)}`);
  }
}

/** The entries of a table by mount point; a second entry of a mount point gets `_` after its name. */
export function tableEntries(path: string): Map<string, Record<string, unknown>> {
  const entries = new Map<string, Record<string, unknown>>();
  if (!isFile(path)) return entries;
  for (const line of linesWithEnds(Deno.readTextFileSync(path))) {
    const entry = parseLine(line, FSTAB);
    if (entry === undefined) continue;
    let { name } = entry;
    while (entries.has(name)) name += "_";
    const { device, fstype, opts, dump, pass_num } = entry;
    entries.set(name, { device, fstype, opts: opts.split(","), dump, pass: pass_num });
  }
  return entries;
}

/**
 * Removes the entries with this name and device.
 * @throws {CommandError}
 */
export function removeEntry(
  path: string,
  { name, device }: { readonly name: string; readonly device: string | null },
): void {
  const wanted: TableEntry = device === null ? { name } : { name, device };
  const lines = linesWithEnds(readTable(path));
  const left = lines.filter((line) => {
    const entry = parseLine(line, FSTAB);
    return entry === undefined || !matches(entry, wanted);
  });
  if (left.length < lines.length) writeTable(path, left);
}

/** How an entry is set. */
export interface SetEntry {
  readonly form: TableForm;
  readonly entry: TableEntry;
  /** The fields that identify the line; `auto` chooses them. */
  readonly matchOn: "auto" | readonly string[];
  /** Whether a matching line stays unchanged. */
  readonly notChange: boolean;
  /** Whether nothing is written. */
  readonly test: boolean;
}

/**
 * Sets an entry.
 * @returns Its former state.
 * @throws {CommandError}
 */
export function setEntry(path: string, set: SetEntry): "present" | "change" | "new" {
  const { form, entry, matchOn, notChange, test } = set;
  const odd = Object.values(entry).find((value) => /[\r\n]/.test(value));
  if (odd !== undefined) throw new InvocationError(`An entry is one line: ${JSON.stringify(odd)}`);
  const keys = matchOn === "auto" ? [form.special.includes(entry.fstype) ? "name" : "device"] : matchOn;
  const unknown = keys.filter((key) => !form.fields.includes(key));
  if (unknown.length > 0) throw new CommandError(`Unrecognized keys in match_on: "${unknown.join(", ")}"`);
  if (!isFile(path)) throw new CommandError(`Bad config file "${path}"`);
  const wanted = Object.fromEntries(keys.map((key) => [key, entry[key]]));
  const unchanged: boolean[] = [];
  const lines = linesWithEnds(readTable(path)).map((line) => {
    const old = parseLine(line, form);
    if (old === undefined || !matches(old, wanted)) return line;
    const stays = matches(old, entry) || notChange;
    unchanged.push(stays);
    return stays ? line : form.format(entry);
  });
  const state = unchanged.length === 0 ? "new" : unchanged.includes(false) ? "change" : "present";
  if (state === "new") lines.push(form.format(entry));
  if (state !== "present" && !test) writeTable(path, lines);
  return state;
}
