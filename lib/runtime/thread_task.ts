/**
 * The kernel's threads of this process. Linux only; other systems give no data.
 * @module
 */

import { isGone, workerNumber } from "#lib/os/deno_texts.ts";

/** Maximum length of a thread's name, in bytes; the system cuts a longer one. */
const MAX_NAME = 15;

/** One of this process's threads. */
export interface ThreadTask {
  /** Whether it exists; `undefined` if the system does not report it. */
  alive(): boolean | undefined;
  /** Processor time that it has used so far, in milliseconds; `undefined` if the system does not report it. */
  cpuMs(): number | undefined;
  /** Names it for `ps -T`, `top -H` and debuggers. */
  name(name: string): void;
}

/** The thread of the worker that was started last, which Deno makes before the constructor returns. */
export function newestWorkerTask(): ThreadTask {
  if (Deno.build.os !== "linux") return { alive: () => undefined, cpuMs: () => undefined, name: () => {} };
  const tids = Array.from(Deno.readDirSync("/proc/self/task"), ({ name }) => name);
  const numbered = tids.map((tid) => ({ tid, number: workerNumber(readOf(tid, "comm")?.trim() ?? "") ?? -1 }));
  const newest = numbered.reduce((a, b) => b.number > a.number ? b : a);
  const at = newest.number < 0 ? undefined : startOf(newest.tid);
  return {
    alive: () => at === undefined ? undefined : startOf(newest.tid) === at,
    cpuMs: () => at === undefined || startOf(newest.tid) !== at ? undefined : cpuOf(newest.tid),
    name: (name) => at === undefined ? undefined : nameTask(newest.tid, name),
  };
}

/** Names the main thread of this process, and so the process. */
export function nameProcessTask(name: string): void {
  if (Deno.build.os === "linux") nameTask(String(Deno.pid), name);
}

function nameTask(tid: string, name: string): void {
  try {
    Deno.writeTextFileSync(`/proc/self/task/${tid}/comm`, name.slice(0, MAX_NAME), { create: false });
  } catch {
    // The thread has ended, or the system does not let names be set (a sandbox): the old name stays.
  }
}

/** When a thread started, in the system's own format: distinguishes it from a later one with the same id. */
function startOf(tid: string): string | undefined {
  return statOf(tid)?.[19];
}

/** The system counts in ticks of 10 ms. */
function cpuOf(tid: string): number | undefined {
  const stat = statOf(tid);
  return stat === undefined ? undefined : (Number(stat[11]) + Number(stat[12])) * 10;
}

function statOf(tid: string): string[] | undefined {
  // The name is in brackets, and may contain brackets.
  return readOf(tid, "stat")?.replace(/^.*\) /s, "").split(" ");
}

function readOf(tid: string, file: string): string | undefined {
  try {
    return Deno.readTextFileSync(`/proc/self/task/${tid}/${file}`);
  } catch (error) {
    // A thread may also end between the opening and the reading.
    if (isGone(error)) return undefined;
    throw error;
  }
}
