/**
 * Syncs whole file systems, which the runtime cannot. Separate from libc.ts because only a journal needs it, and Deno
 * takes 0.05 ms for each function of a library that is opened. Only on Linux.
 * Source: syncfs(2).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "#lib/errors.ts";

const SYMBOLS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  syncfs: { parameters: ["i32"], result: "i32", nonblocking: true },
} as const;

const libc = cLibrary(SYMBOLS);

/** O_RDONLY and O_CLOEXEC: child processes of jobs do not inherit the descriptor. */
const FLAGS = 0o2000000;

/** Whether this system has `syncfs`. */
export const SYNCS_FILE_SYSTEMS = Deno.build.os === "linux";

/**
 * Resolves when the file systems of `paths` are synced; paths that do not exist are skipped.
 * @throws {LibcError} If a sync fails.
 */
export async function syncFileSystems(paths: readonly string[]): Promise<void> {
  const devices = new Set<number>();
  for (const path of paths) {
    const fd = libc().open(new TextEncoder().encode(`${path}\0`), FLAGS);
    if (fd < 0) continue;
    try {
      const { dev } = Deno.statSync(path);
      if (devices.has(dev)) continue;
      devices.add(dev);
      if (await libc().syncfs(fd) !== 0) throw new LibcError("syncfs");
    } finally {
      libc().close(fd);
    }
  }
}
