/**
 * `--enable-profiling`: takes a CPU profile of what a command does.
 * @module
 */

import type { Terminal } from "./run_command.ts";
import { sanitize } from "#lib/text/terminal.ts";

/** The options for profiling. */
export interface ProfileRequest {
  /** `--enable-profiling` */
  readonly profiling_enabled: boolean;
  readonly profiling_path: string | null;
}

/**
 * Runs `work`, and writes a profile of it if the command line asks for one; its path is written to standard error.
 * @param place.cachedir The directory if none was typed.
 */
export async function runProfiled<T>(
  { profiling_enabled, profiling_path }: ProfileRequest,
  place: { readonly cachedir: string; readonly prog: string; readonly io: Pick<Terminal, "writeError"> },
  work: () => Promise<T>,
): Promise<T> {
  if (!profiling_enabled) return await work();
  const { startProfile } = await import("#lib/runtime/cpu_profile.ts");
  const profile = startProfile();
  await profile.started;
  try {
    return await work();
  } finally {
    const path = await profile.stop(profiling_path ?? place.cachedir, place.prog);
    place.io.writeError(sanitize(`CPU profile: ${path}\n`));
  }
}
