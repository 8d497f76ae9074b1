/**
 * Grains of hosts of other kinds: the files and programs of each are below its own directory.
 * @module
 */

import { HostFiles } from "#lib/programs/files.ts";

/** The grains that `read` returns on a host with these files, all of them executable. */
export function grainsOf(
  read: (files: HostFiles) => Record<string, unknown>,
  files: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const root = Deno.makeTempDirSync({ prefix: "other_host_" });
  try {
    for (const [path, text] of Object.entries(files)) {
      Deno.mkdirSync(`${root}${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(root + path, text, { mode: 0o755 });
    }
    return read(new HostFiles(root));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}
