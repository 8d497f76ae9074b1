/**
 * The current mounts and swap spaces: `/proc/self/mounts`, `/proc/self/mountinfo`, `/proc/swaps`, `mount -l`.
 * Source: Salt 3008.3, `salt/modules/mount.py`; proc(5).
 * @module
 */

import { splitRows } from "#lib/text/split_lines.ts";

/** One mount. */
export interface ActiveMount {
  readonly device: string;
  readonly fstype: string;
  readonly opts: readonly string[];
}

/** One mount, with all fields of mountinfo. */
export interface MountInfo extends ActiveMount {
  readonly mountid: string;
  readonly parentid: string;
  readonly major: string;
  readonly minor: string;
  readonly root: string;
  readonly superopts: readonly string[];
}

/** Swap space. */
export interface Swap {
  readonly type: string;
  readonly size: string;
  readonly used: string;
  readonly priority: string;
}

function blanks(text: string): string {
  return text.replaceAll("\\040", "\\ ");
}

/** The mounts of `/proc/self/mounts` by mount point; the last one for each mount point. */
export function parseActiveMounts(text: string): Map<string, ActiveMount> {
  return new Map(
    splitRows(text).map((
      [device, place, fstype, opts],
    ) => [place, { device, fstype, opts: opts.split(",").map(blanks) }]),
  );
}

/** The mounts of `/proc/self/mountinfo` by mount point; the last one for each mount point. */
export function parseMountInfo(text: string): Map<string, MountInfo> {
  return new Map(
    splitRows(text).map((words): [string, MountInfo] => {
      const [mountid, parentid, numbers, root, place, opts] = words;
      // The number of optional fields before it varies.
      const [fstype, device, superopts] = words.slice(words.indexOf("-") + 1);
      const [major, minor] = numbers.split(":");
      return [place, {
        mountid,
        parentid,
        major,
        minor,
        root,
        opts: opts.split(",").map(blanks),
        fstype,
        device: blanks(device),
        superopts: superopts.split(",").map(blanks),
      }];
    }),
  );
}

/** The devices of `mount -l` by mount point. */
export function parseMountList(text: string): Map<string, string> {
  return new Map(
    splitRows(text).flatMap(([device, , place]): [string, string][] => place === undefined ? [] : [[place, device]]),
  );
}

/** The swap space of `/proc/swaps` by its file. */
export function parseSwaps(text: string): Map<string, Swap> {
  return new Map(
    splitRows(text).filter(([name]) => name !== "Filename").map((
      [name, type, size, used, priority],
    ) => [name, { type, size, used, priority }]),
  );
}

/**
 * Where the file system of `path` is mounted.
 * @param path Absolute, without links in it.
 */
export function mountPointOf(path: string): string {
  let place = path;
  while (place !== "/") {
    const parent = place.replace(/\/[^/]*$/, "") || "/";
    if (isMountPlace(place, parent)) return place;
    place = parent;
  }
  return place;
}

function isMountPlace(place: string, parent: string): boolean {
  try {
    const [own, above] = [Deno.lstatSync(place), Deno.lstatSync(parent)];
    return own.dev !== above.dev || own.ino === above.ino;
  } catch {
    return false; // a missing path is no mount point
  }
}
