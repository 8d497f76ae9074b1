/**
 * Stamps (inode, size and time) of the files that dpkg and apt read: while a stamp is the same, their output is the
 * same. Source: dpkg(1), "FILES"; apt.conf(5), `Dir`.
 * @module
 */

import { statIfExists } from "#lib/os/atomic_file.ts";
import { fileStamp } from "#lib/os/file_stamp.ts";

/** The places of apt's files. */
export interface AptPlaces {
  /** The directory of the lists that `apt-get update` fetches. */
  readonly lists: string;
  /** The directory of apt's configuration: its options, sources and preferences. */
  readonly config: string;
}

/** Files and directories of apt's configuration. */
const CONFIGURATION = [
  ...["apt.conf", "apt.conf.d", "auth.conf.d", "preferences", "preferences.d", "sources.list", "sources.list.d"],
];

/** dpkg's own directory on this host; `undefined` if it is not at a known path. */
export function dpkgDirectory(): string | undefined {
  return Deno.env.get("DPKG_ROOT") === undefined ? Deno.env.get("DPKG_ADMINDIR") ?? "/var/lib/dpkg" : undefined;
}

/** apt's places on this host; `undefined` if they are not at known paths. */
export function aptPlaces(): AptPlaces | undefined {
  return Deno.env.get("APT_CONFIG") === undefined ? { lists: "/var/lib/apt/lists", config: "/etc/apt" } : undefined;
}

/** The stamp of dpkg's data; `undefined` if it has no list of packages there. */
export function dpkgStamp(directory: string | undefined): string | undefined {
  if (directory === undefined) return undefined;
  const status = fileStamp(`${directory}/status`);
  // While dpkg works, and after it was killed, its latest changes are in `updates`.
  return status === undefined
    ? undefined
    : lines([status, ...withFiles(`${directory}/updates`), fileStamp(`${directory}/arch`)]);
}

/** The stamp of apt's data; `undefined` if dpkg has no list of packages there. */
export function aptStamp(directory: string | undefined, places: AptPlaces | undefined): string | undefined {
  const installed = dpkgStamp(directory);
  if (installed === undefined || places === undefined) return undefined;
  const configuration = CONFIGURATION.map((name) => `${places.config}/${name}`);
  return lines([installed, ...[places.lists, ...configuration].flatMap(withFiles)]);
}

/** The stamps of a file, or of a directory and its files; of links, their targets. */
function withFiles(path: string): (string | undefined)[] {
  const own = fileStamp(path);
  if (own === undefined || !statIfExists(path)?.isDirectory) return [own];
  const names = [...Deno.readDirSync(path)].filter(({ isDirectory }) => !isDirectory).map(({ name }) => name).sort();
  return [own, ...names.map((name) => fileStamp(`${path}/${name}`))];
}

function lines(stamps: readonly (string | undefined)[]): string {
  return stamps.map((one) => one ?? "-").join("\n");
}
