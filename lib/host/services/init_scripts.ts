/**
 * Services of System V init: scripts below `/etc/init.d`, and their links by runlevel.
 * Source: Salt 3008.3, `salt/modules/systemd_service.py` _get_sysv_services, `salt/modules/debian_service.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { type CommandHost } from "#lib/programs/command.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { isExecutableFile, which } from "#lib/programs/which.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";

/** The path in a root directory. */
export function initScriptPath(path: string, root: string | null): string {
  return root === null || root === "" ? path : `${rstripChars(root, "/")}${path}`;
}

/** The names in a directory, sorted; none if it is not there, or may not be read. */
export function listNamesIn(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
  } catch (error) {
    const expected = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied ||
      error instanceof Deno.errors.NotADirectory;
    if (expected) return [];
    throw error;
  }
}

/** The executable scripts of init. */
export function initScripts(root: string | null = null): string[] {
  const directory = initScriptPath("/etc/init.d", root);
  return listNamesIn(directory).filter((name) => isExecutableFile(`${directory}/${name}`));
}

/** The runlevel; from the system's files if no program reports it. */
export async function currentRunlevel(host: CommandHost): Promise<string> {
  if (which("runlevel") !== undefined) {
    const [, level] = (await runProgram(["runlevel"], host)).stdout.trim().split(/\s+/);
    if (level !== undefined && level !== "unknown") return level;
  }
  const inittab = readTextFileIfExists("/etc/inittab") ?? "";
  return /^[^#:\n]*:(\w+):initdefault/m.exec(inittab)?.[1] ?? "2";
}

/** The services that a runlevel starts: those of links `S<digits><name>`. */
export function startedIn(level: string, root: string | null = null): string[] {
  const names = [`/etc/rc${level}.d`, "/etc/rcS.d"].flatMap((directory) =>
    listNamesIn(initScriptPath(directory, root))
  );
  return names.flatMap((name) => /^S\d*(.+)$/.exec(name)?.[1] ?? []);
}
