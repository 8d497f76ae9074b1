/**
 * The grain `pythonversion`: the version of the host's Python, which trees use for names of packages and directories
 * (`python3-apt`, `/usr/lib/python3.11`). Salt's is that of the Python that runs Salt, and has five items.
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import type { HostFiles } from "#lib/programs/files.ts";
import type { Grains } from "./os.ts";

/** Where a host's Python is. */
const PLACES = ["/usr/bin/python3", "/bin/python3", "/usr/local/bin/python3"];
/** Most links from there to the program: `/etc/alternatives` is one. */
const MAX_LINKS = 5;

/**
 * The major and the minor number, which the name of the program has: no program is started. Nothing if the host has no
 * Python 3.
 */
export function pythonGrains(files: HostFiles): Grains {
  for (const place of PLACES) {
    const version = versionAt(place, files);
    if (version !== undefined) return { pythonversion: version };
  }
  return {};
}

function versionAt(place: string, files: HostFiles): number[] | undefined {
  let path = place;
  for (let links = 0; links < MAX_LINKS; links++) {
    const target = files.link(path);
    if (target === undefined) return undefined;
    const [, major, minor] = /python(\d+)\.(\d+)$/.exec(target) ?? [];
    if (minor !== undefined) return [Number(major), Number(minor)];
    path = target.startsWith("/") ? target : `${dirName(path)}/${target}`;
  }
  return undefined;
}
