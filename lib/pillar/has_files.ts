/**
 * Whether a host has any pillar to compile. Separate from the compiler, because loading that takes longer than most
 * commands.
 * @module
 */

import { isFile } from "#lib/os/file_kind.ts";
import type { MasterOpts } from "#lib/config/options.ts";

/** Whether there is a top file in one of the roots, or an external pillar. */
export function hasPillarFiles(
  { pillar_roots, state_top, ext_pillar, pillar_opts }: Pick<
    MasterOpts,
    "pillar_roots" | "state_top" | "ext_pillar" | "pillar_opts"
  >,
): boolean {
  if (ext_pillar.length > 0 || pillar_opts) return true;
  const top = state_top.replace(/^salt:\/\//, "").replace(/^\/+/, "");
  return [...pillar_roots.values()].some((roots) =>
    // `__env__` stands for environments whose names are not known here.
    Array.isArray(roots) && roots.some((root) => String(root).includes("__env__") || isFile(`${String(root)}/${top}`))
  );
}
