/**
 * A Python of this host that has a library.
 * @module
 */

import { which } from "#lib/programs/which.ts";

/** The path of the first `python3` of PATH, or Debian's, that can import the library; `undefined` if none can. */
export function pythonWith(library: string): string | undefined {
  return ["python3", "/usr/bin/python3"].flatMap((name) => which(name) ?? []).find((path) => {
    const { success } = new Deno.Command(path, {
      args: ["-E", "-s", "-c", `import ${library}`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).outputSync();
    return success;
  });
}
