/**
 * The mask that takes permission bits from new files. A process has one for all its threads, and setting it, even
 * reading it with umask(2), changes what other threads make meanwhile. So no thread sets it: the mask of a state
 * (`umask`) goes with the state's calls, and what makes files or starts commands asks here for it. Only services set
 * the process's mask, at their start.
 * @module
 */

import type { AsyncLocalStorage } from "node:async_hooks";
import { nodeBuiltin } from "./node_builtin.ts";

/** The masks of the calls that have their own; opened by the first one. */
let masks: AsyncLocalStorage<number> | undefined;
/** The process's mask, which does not change after its start. */
let processMask: number | undefined;

/** Runs `run`; what it makes and starts until its end has this mask, also while others run. */
export async function withUmask<T>(mask: number, run: () => Promise<T>): Promise<T> {
  masks ??= new (nodeBuiltin("node:async_hooks").AsyncLocalStorage)<number>();
  return await masks.run(mask & 0o777, run);
}

/** The mask of the running call, if it has its own: commands get the process's one without asking. */
export function ownUmask(): number | undefined {
  return masks?.getStore();
}

/** The mask for new files. */
export function currentUmask(): number {
  return ownUmask() ?? (processMask ??= readProcessMask());
}

/** Which of the bits `mode` the process's mask takes, though the running call has its own that leaves them. */
export function takenBits(mode: number): number {
  return ownUmask() === undefined ? 0 : mode & (processMask ??= readProcessMask());
}

function readProcessMask(): number {
  try {
    const digits = /^Umask:\s*([0-7]+)$/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1];
    if (digits !== undefined) return parseInt(digits, 8);
  } catch {
    // No Linux, or a thread that may not read there.
  }
  return Deno.umask();
}
