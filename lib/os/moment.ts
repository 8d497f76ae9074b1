/**
 * Moments and deadlines that a jump of the wall clock does not move. Within one boot of the host they are compared by
 * the clock of the boot, which counts while the host sleeps and which nobody can set; across boots only the wall clock
 * is left.
 * Source: proc(5), `/proc/sys/kernel/random/boot_id`.
 * @module
 */

import { bootMs } from "#lib/libc/boot_clock.ts";
import { toNumber, type ValueMap } from "#lib/values/value.ts";

/** A moment on this host. */
export interface Moment {
  /** By the wall clock: milliseconds since the epoch. */
  readonly wallMs: number;
  /** By the clock of the boot; absent where the system does not have it. */
  readonly boot?: BootTime;
}

/** A time of one boot. */
interface BootTime {
  /** Which boot: `boot_id` of the kernel. */
  readonly id: string;
  /** Milliseconds since the boot. */
  readonly ms: number;
}

/** A deadline as it is stored, with the times in milliseconds. */
export type DeadlineFields = {
  /** By the wall clock, since the epoch. */
  readonly until: number;
  /** The id of the boot, where the system has one. */
  readonly boot?: string;
  /** By the clock of that boot. */
  readonly boot_until?: number;
};

let bootId: string | undefined;

/** The id of the host's boot; empty where the system does not tell. */
export function readBootId(): string {
  bootId ??= readBoot();
  return bootId;
}

/** The present moment. */
export function readMoment(): Moment {
  const wallMs = Date.now();
  const id = readBootId();
  const ms = id === "" ? undefined : bootMs();
  return ms === undefined ? { wallMs } : { wallMs, boot: { id, ms } };
}

/** The moment `ms` milliseconds after `moment`, by both clocks. */
export function momentAfter({ wallMs, boot }: Moment, ms: number): Moment {
  return boot === undefined
    ? { wallMs: wallMs + ms }
    : { wallMs: wallMs + ms, boot: { id: boot.id, ms: boot.ms + ms } };
}

/** Milliseconds from `from` to `to`; negative if `to` is earlier. */
export function msBetween(from: Moment, to: Moment): number {
  const sameBoot = from.boot !== undefined && from.boot.id === to.boot?.id;
  return sameBoot ? to.boot!.ms - from.boot!.ms : to.wallMs - from.wallMs;
}

/** The fields that store a deadline; {@linkcode readDeadline} reads them. */
export function deadlineFields({ wallMs, boot }: Moment): DeadlineFields {
  return boot === undefined ? { until: wallMs } : { until: wallMs, boot: boot.id, boot_until: boot.ms };
}

/** The deadline among the fields of a stored map; a map without one has a deadline that is long over. */
export function readDeadline(stored: ValueMap): Moment {
  const wallMs = toNumber(stored.get("until")) ?? 0;
  const id = stored.get("boot");
  const ms = toNumber(stored.get("boot_until"));
  return typeof id === "string" && ms !== undefined ? { wallMs, boot: { id, ms } } : { wallMs };
}

function readBoot(): string {
  try {
    return Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable) return "";
    throw error;
  }
}
