/**
 * The processor time of a master, by the threads that its names tell apart. Source: proc(5).
 * @module
 */

import { processTree, readIfThere, treeCpuMs, unlessGone } from "./process_figures.ts";

/** Processor time by part, in milliseconds. */
export type PartTimes = ReadonlyMap<string, number>;

/** The parts of a master, by the beginning of the names of their threads. */
const PARTS: readonly (readonly [beginning: string, part: string])[] = [
  ["MWorker", "MWorkers"],
  ["Publisher", "Publisher"],
  ["EventBus", "event bus"],
  ["Cluster", "Cluster thread"],
  ["JobStore", "store thread"],
  ["Reactor", "reactor"],
  ["ZMQbg", "sockets (libzmq)"],
  ["tokio-runtime-w", "files and databases (Deno)"],
  ["V8 ", "garbage collection, compilation (V8)"],
];

/** All else: the first thread, and those that have ended. */
const REST = "main thread";

/** The processor time that each part of the tree below `pid` has used so far; the sum is that of the tree. */
export function partTimes(pid: number): PartTimes {
  const times = new Map<string, number>();
  let known = 0;
  for (const member of processTree(pid)) {
    for (const { name, ms } of threads(member)) {
      const part = PARTS.find(([beginning]) => name.startsWith(beginning))?.[1];
      if (part === undefined) continue;
      known += ms;
      times.set(part, (times.get(part) ?? 0) + ms);
    }
  }
  return times.set(REST, Math.max(0, treeCpuMs(pid) - known));
}

/** The difference of two measurements, or the sum if `sign` is 1. */
export function combined(a: PartTimes, b: PartTimes, sign: 1 | -1): PartTimes {
  const parts = new Set([...a.keys(), ...b.keys()]);
  return new Map([...parts].map((part) => [part, Math.max(0, (a.get(part) ?? 0) + sign * (b.get(part) ?? 0))]));
}

function* threads(pid: number): Generator<{ readonly name: string; readonly ms: number }> {
  const directory = `/proc/${pid}/task`;
  for (const { name: tid } of unlessGone(() => [...Deno.readDirSync(directory)]) ?? []) {
    const name = readIfThere(`${directory}/${tid}/comm`)?.trim();
    // The first field is the time on the processor in nanoseconds.
    const ns = readIfThere(`${directory}/${tid}/schedstat`)?.split(" ", 1)[0];
    if (name !== undefined && ns !== undefined) yield { name, ms: Number(ns) / 1e6 };
  }
}
