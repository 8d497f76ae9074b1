/**
 * The use of file systems as `df` reports it, in the form of Salt's `disk.usage` and similar functions.
 * Source: Salt 3008.3, `salt/modules/disk.py`; df(1).
 * @module
 */

import { CommandError } from "#lib/errors.ts";

/** The flags of `df` that a caller may give. */
const FLAGS = "aBhHiklPtTxv";

/**
 * Flags for `df`.
 * @throws {CommandError} If one of them is invalid.
 */
export function dfFlags(flags: string | null, caller: string): string[] {
  if (flags === null || flags === "") return [];
  if ([...flags].some((flag) => !FLAGS.includes(flag))) throw new CommandError(`Invalid flag passed to ${caller}`);
  return [`-${flags}`];
}

/** The rows of `df` below the heading. Handles device names with blanks, and rows that are broken after the name. */
function rows(text: string): string[][] {
  const rows: string[][] = [];
  let begun: string | undefined;
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("Filesystem")) continue;
    const words = `${begun === undefined ? "" : `${begun} `}${line}`.trim().split(/\s+/);
    begun = words.length === 1 ? words[0] : undefined;
    if (begun !== undefined) continue;
    while (words.length >= 2 && !/^\d+$/.test(words[1])) words.splice(0, 2, `${words[0]} ${words[1]}`);
    if (words.length >= 2) rows.push(words);
  }
  return rows;
}

/** Sizes and use by mount point; `undefined` if a row is incomplete. */
export function parseUsage(text: string): Map<string, Record<string, string>> | undefined {
  const all = rows(text);
  if (all.some(({ length }) => length < 6)) return undefined;
  return new Map(
    all.map((
      [filesystem, blocks, used, available, capacity, place],
    ) => [place, { filesystem, "1K-blocks": blocks, used, available, capacity }]),
  );
}

/** Inodes by mount point; `undefined` if a row is incomplete. */
export function parseInodeUsage(text: string): Map<string, Record<string, string>> | undefined {
  const all = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("Filesystem"))
    .map((line) => line.trim().split(/\s+/));
  if (all.some(({ length }) => length < 6)) return undefined;
  return new Map(
    all.map(([filesystem, inodes, used, free, use, place]) => [place, { inodes, used, free, use, filesystem }]),
  );
}

/** How full each mount point is, `42%`; `undefined` if a row is incomplete. */
export function parsePercent(text: string): Map<string, string> | undefined {
  const all = rows(text);
  return all.some(({ length }) => length < 6) ? undefined : new Map(all.map((words) => [words[5], words[4]]));
}
