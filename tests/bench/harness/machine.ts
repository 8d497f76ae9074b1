/**
 * Describes the machine and the versions of a measurement.
 * @module
 */

import { libzmqVersion } from "#lib/sockets/libzmq.ts";
import { VERSION } from "#lib/version.ts";

/** Everything besides the program that affects a figure. */
export interface Machine {
  /** Time of the measurement, ISO 8601, UTC. */
  readonly date: string;
  /** Model of the processor. */
  readonly processor: string;
  /** Number of processors. */
  readonly processors: number;
  /** Memory in units of 2^30 bytes. */
  readonly memoryGb: number;
  /** Operating system and its release. */
  readonly system: string;
  readonly deno: string;
  readonly libzmq: string;
  /** Our own version. */
  readonly salt: string;
  /** The load average of the last minute when the benchmark began: other programs on the machine. */
  readonly loadBefore: number;
}

/** Describes this machine, now. */
export function thisMachine(): Machine {
  const cpuinfo = Deno.build.os === "linux" ? Deno.readTextFileSync("/proc/cpuinfo") : "";
  return {
    date: new Date().toISOString(),
    processor: /^model name\s*:\s*(.+)$/m.exec(cpuinfo)?.[1] ?? Deno.build.arch,
    processors: navigator.hardwareConcurrency,
    memoryGb: Math.round(Deno.systemMemoryInfo().total / 2 ** 30),
    system: `${Deno.build.os} ${Deno.osRelease()}`,
    deno: Deno.version.deno,
    libzmq: libzmqVersion(),
    salt: VERSION,
    loadBefore: Deno.loadavg()[0],
  };
}
