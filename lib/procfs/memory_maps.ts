/**
 * The memory of a process by mapping, grouped as in psutil.
 * Source: psutil 7.2 (documentation and results); proc(5), `smaps`.
 * @module
 */

import { lexistsOrThrow } from "#lib/os/file_kind.ts";

/** Sizes that are shown of a mapping, in psutil's order. */
const SIZES = [
  ...[
    "Rss",
    "Size",
    "Pss",
    "Shared_Clean",
    "Shared_Dirty",
    "Private_Clean",
    "Private_Dirty",
    "Referenced",
    "Anonymous",
  ],
  "Swap",
];

/** `[path, rss, size, pss, …]` for each path, in bytes. */
export function memoryMaps(smaps: string): (string | number)[][] {
  const groups = new Map<string, number[]>();
  let sums: number[] = [];
  for (const line of smaps.split("\n")) {
    const [, name, kilobytes] = /^(\w+):\s+(\d+) kB$/.exec(line) ?? [];
    if (name !== undefined) {
      const at = SIZES.indexOf(name);
      if (at >= 0) sums[at] += Number(kilobytes) * 1024;
    } else if (/^[0-9a-f]+-[0-9a-f]+ /.test(line)) {
      const path = pathOf(line);
      sums = groups.get(path) ?? SIZES.map(() => 0);
      groups.set(path, sums);
    }
  }
  return [...groups].map(([path, sizes]) => [path, ...sizes]);
}

function pathOf(line: string): string {
  const path = /^\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+(.*)$/.exec(line)?.[1].trim() ?? "";
  if (path === "") return "[anon]";
  return path.endsWith(" (deleted)") && !lexistsOrThrow(path) ? path.slice(0, -" (deleted)".length) : path;
}

/** Bytes that only this process uses, its share of shared memory, and swapped bytes. */
export function uniqueMemory(smaps: string): [uss: number, pss: number, swap: number] {
  const sum = (name: RegExp) =>
    [...smaps.matchAll(name)].reduce((total, [, kilobytes]) => total + Number(kilobytes), 0) * 1024;
  return [sum(/^Private_\w+:\s+(\d+)/gm), sum(/^Pss:\s+(\d+)/gm), sum(/^Swap:\s+(\d+)/gm)];
}
