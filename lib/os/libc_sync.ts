/**
 * Bringing whole file systems to the disk, which the runtime cannot. Apart from libc.ts, as only a journal wants it, and Deno takes
 * 0.05 ms for each function of a library that is opened. Linux's alone. Source: syncfs(2).
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { LibcError } from "../errors.ts";

const SYMBOLS = {
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  syncfs: { parameters: ["i32"], result: "i32", nonblocking: true },
} as const;

const libc = cLibrary(SYMBOLS);

/** O_RDONLY, and children that a job starts do not inherit the descriptor. */
const FLAGS = 0o2000000;

/** Whether this system can. */
export const SYNCS_FILE_SYSTEMS = Deno.build.os === "linux";

/**
 * Resolves when all that was written to the file systems of `paths` is on their disks; paths that are not there are left out.
 * @throws {LibcError} If it cannot be brought there.
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
