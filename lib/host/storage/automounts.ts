/**
 * Reads and writes the map of file systems of the automounter: `/etc/auto_salt`.
 * Source: Salt 3008.3, `salt/modules/mount.py`; autofs(5).
 * @module
 */

import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { InvocationError } from "#lib/errors.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { isFile } from "#lib/os/file_kind.ts";

const PREFIX = "/..";

/** The three words of a line; `undefined` if it is a comment or no entry. */
function wordsOf(line: string): readonly [name: string, options: string, device: string] | undefined {
  const [name, options, device, ...more] = line.trim().split(/\s+/);
  return line.startsWith("#") || device === undefined || more.length > 0 ? undefined : [name, options, device];
}

function linesOf(path: string): string[] {
  return Deno.readTextFileSync(path).match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function write(path: string, lines: readonly string[]): void {
  replaceFile(realPath(path), new TextEncoder().encode(lines.join("")));
}

/** The entries by mount point: device, type, options. */
export function automounts(path: string): Map<string, { device: string; fstype: string; opts: string[] }> {
  return new Map((isFile(path) ? linesOf(path) : []).flatMap((line): [string, {
    device: string;
    fstype: string;
    opts: string[];
  }][] => {
    const words = wordsOf(line);
    if (words === undefined) return [];
    const [name, options, device] = words;
    const [fstype, ...opts] = options.split(",");
    return [[name.replaceAll(PREFIX, ""), { device: device.split(":")[1] ?? "", fstype, opts }]];
  }));
}

/**
 * Removes the entries of a mount point; if a device is given, only those of the device.
 * @returns Whether there were entries of that mount point.
 */
export function removeAutomount(
  path: string,
  { name, device }: { readonly name: string; readonly device: string },
): boolean {
  if (!automounts(path).has(name)) return false;
  write(
    path,
    linesOf(path).filter((line) => {
      const words = wordsOf(line);
      if (words === undefined || words[0].replaceAll(PREFIX, "") !== name) return true;
      return device !== "" && words[2].split(":")[1] !== device;
    }),
  );
  return true;
}

/** The values of an entry. */
export interface Automount {
  readonly name: string;
  readonly device: string;
  readonly fstype: string;
  readonly opts: string;
}

/**
 * The words of an entry.
 * @throws {InvocationError} If one has blanks.
 */
export function automountWords({ name, device, fstype, opts }: Automount): readonly [string, string, string] {
  const place = `${PREFIX}${name}`;
  const options = `-fstype=${fstype},${opts}`;
  const source = `${fstype === "smbfs" ? "" : fstype}:${device}`;
  if ([place, options, source].some((word) => /\s/.test(word))) {
    throw new InvocationError("The words of an entry have no blanks in them");
  }
  return [place, options, source];
}

/**
 * Sets an entry in an existing file.
 * @param notChange Whether a matching entry stays unchanged.
 */
export function setAutomount(
  path: string,
  [place, options, source]: ReturnType<typeof automountWords>,
  { notChange, test }: { readonly notChange: boolean; readonly test: boolean },
): "present" | "change" | "new" {
  const entry = `${place}\t${options}\t${source}\n`;
  const unchanged: boolean[] = [];
  const lines = (isFile(path) ? linesOf(path) : []).map((line) => {
    const words = wordsOf(line);
    if (words === undefined || (words[0] !== place && words[2] !== source)) return line;
    const stays = notChange || words.join(" ") === `${place} ${options} ${source}`;
    unchanged.push(stays);
    return stays ? line : entry;
  });
  const state = unchanged.length === 0 ? "new" : unchanged.includes(false) ? "change" : "present";
  if (state === "new") lines.push(entry);
  if (state !== "present" && !test) write(path, lines);
  return state;
}
