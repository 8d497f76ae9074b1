/**
 * Finds executables in the search path.
 * Source: Salt 3008.3, `salt/utils/path.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { mayExist } from "#lib/os/file_kind.ts";
import { mayExecute } from "#lib/libc/files.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";

/** Searched after `PATH`, in case a service manager started the minion with a short one. */
const USUAL_DIRECTORIES = ["/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"];

/** Whether this thread may call the C library; a job's thread may not. */
function canCall(): boolean {
  return Deno.permissions.querySync({ name: "ffi" }).state === "granted";
}

/** Whether `path` is a file that this process may execute. */
export function isExecutableFile(path: string): boolean {
  try {
    // The C library first: for each directory without the program, the runtime would create an error, which takes 0.1
    // ms.
    const answer = canCall() ? mayExecute(path) : undefined;
    if (answer === false) return false;
    const { isFile, mode } = Deno.statSync(path);
    if (!isFile || answer === true) return isFile;
    if (((mode ?? 0o111) & 0o111) === 0) return false;
    const { accessSync, constants } = nodeBuiltin("node:fs");
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    // Without permission to check, the result is unknown.
    if (error instanceof Deno.errors.NotCapable) throw error;
    return false;
  }
}

/**
 * The full path of the executable `name`, or `name` itself if it is a path to one; `undefined` if there is none.
 * @param root A directory in place of `/`, without a final slash: that of another host.
 */
export function which(name: string, root = ""): string | undefined {
  if (name === "") return undefined;
  if (isExecutableFile(root + name)) return name;
  // An empty entry means the working directory, where it would have been found already.
  const path = (Deno.env.get("PATH") ?? "").split(":").filter((directory) => directory !== "");
  const directories = [...path, ...USUAL_DIRECTORIES.filter((directory) => !path.includes(directory))];
  return directories.map((directory) => `${rstripChars(directory, "/")}/${name}`)
    .find((path) => isExecutableFile(root + path));
}

/** The result of `execvp` for a program: started, not found, or not allowed. */
export type Startable = "yes" | "missing" | "forbidden";

/**
 * Whether a child with working directory `cwd` and search path `path` could start `program`. Checked beforehand,
 * because a wrapper's failure to start it would look like a failure of the command.
 */
export function startable(program: string, { cwd, path }: { cwd: string; path: string | undefined }): Startable {
  const directories = program.includes("/") ? [cwd] : (path ?? "/bin:/usr/bin").split(":");
  const candidates = directories.map((directory) => program.startsWith("/") ? program : `${directory}/${program}`);
  if (candidates.some(isExecutableFile)) return "yes";
  return candidates.some(mayExist) ? "forbidden" : "missing";
}
