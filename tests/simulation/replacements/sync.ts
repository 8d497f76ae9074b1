/**
 * Replaces lib/libc/sync.ts in a simulation: all that a machine has written is synced, in the time that it takes.
 * @module
 */

import { disk, machineOf } from "#tests/simulation/world/disk.ts";

/** A simulated system can. */
export const SYNCS_FILE_SYSTEMS = true;

/** Resolves when the disk of the machine that the paths belong to is synced. */
export async function syncFileSystems([path]: readonly string[]): Promise<void> {
  await disk().syncAll(machineOf(path));
}
