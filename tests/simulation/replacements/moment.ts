/**
 * Replaces lib/os/moment.ts in a simulation, where one program has several hosts, each with its boot. What computes
 * with moments is the real code.
 * @module
 */

import { world } from "#tests/simulation/world/world.ts";
import type { Moment } from "#lib/os/moment.ts?real";

export { deadlineFields, momentAfter, msBetween, readDeadline } from "#lib/os/moment.ts?real";
export type { DeadlineFields, Moment } from "#lib/os/moment.ts?real";

/** The id of the boot of the current process's machine. */
export function readBootId(): string {
  return `5d1f5a2e-0000-4000-8000-${bootedMs().toFixed(3).replace(".", "").padStart(12, "0")}`;
}

/** The present moment, there. */
export function readMoment(): Moment {
  return { wallMs: Date.now(), boot: { id: readBootId(), ms: world().nowMs - bootedMs() } };
}

/** When that machine was booted. */
function bootedMs(): number {
  return world().process?.host.bootedMs ?? 0;
}
