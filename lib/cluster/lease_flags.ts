/**
 * Which leases this master holds, and how many masters there are, in memory that all its threads share. A lease counts
 * as lost some time before the others may take it, by the clock of the boot: that goes on while the host sleeps, and
 * nobody can set it. So a master that was cut off or stopped knows it before it has asked anybody.
 * @module
 */

import { readMoment } from "#lib/os/moment.ts";

/** What one master at a time does for the whole cluster. */
export const LEASES = ["maintenance", "schedule", "reactor"] as const;

/** One of them. */
export type LeaseName = typeof LEASES[number];

/** One thread's view of the leases. */
export class LeaseFlags {
  /** Other threads make their own view of it. */
  readonly memory: SharedArrayBuffer;
  readonly #ends: BigInt64Array;

  /** @param memory The memory of another thread's view; without it none is held. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer((LEASES.length + 1) * BigInt64Array.BYTES_PER_ELEMENT);
    this.#ends = new BigInt64Array(this.memory);
  }

  /** Whether this master holds the lease now. */
  holds(name: LeaseName): boolean {
    const end = Atomics.load(this.#ends, LEASES.indexOf(name));
    return end > 0n && leaseClockMs() < Number(end);
  }

  /** This master holds the lease until then, by {@linkcode leaseClockMs}; 0: not at all. */
  set(name: LeaseName, untilMs: number): void {
    Atomics.store(this.#ends, LEASES.indexOf(name), BigInt(Math.floor(untilMs)));
  }

  /** The number of masters that live, this one too, as the database said last. */
  get masters(): number {
    return Math.max(1, Number(Atomics.load(this.#ends, LEASES.length)));
  }

  set masters(count: number) {
    Atomics.store(this.#ends, LEASES.length, BigInt(count));
  }
}

/** The clock of leases, in milliseconds: that of the boot, and the wall clock where there is none. */
export function leaseClockMs(): number {
  const { wallMs, boot } = readMoment();
  return boot?.ms ?? wallMs;
}
