/**
 * Facts about single processes, from `/proc`, or from `ps` where there is no `/proc`.
 * Source: proc(5).
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { isGone } from "#lib/os/deno_texts.ts";

/** The start of a process: distinguishes it from a later one with the same pid. */
export interface Started {
  readonly parent: number;
  /** The start time, in the system's own format. */
  readonly at: string;
}

/** The start of process `pid`; `undefined` if it does not exist. */
export function startedProcess(pid: number): Started | undefined {
  if (Deno.build.os !== "linux") return fromPs(pid);
  // The program's name is in brackets, and may contain brackets.
  const fields = readIfThere(`/proc/${pid}/stat`)?.replace(/^.*\) /s, "").split(" ");
  return fields === undefined || fields[0] === "Z" ? undefined : { parent: Number(fields[1]), at: fields[19] };
}

function fromPs(pid: number): Started | undefined {
  const { success, stdout } = new Deno.Command("ps", {
    args: ["-o", "ppid=,lstart=", "-p", String(pid)],
    stderr: "null",
  }).outputSync();
  const match = success ? /^\s*(\d+)\s+(\S.*)/.exec(new TextDecoder().decode(stdout)) : null;
  return match === null ? undefined : { parent: Number(match[1]), at: match[2] };
}

/** The running children of these processes. Reads every process of the host. */
export function childrenOf(...parents: readonly number[]): number[] {
  const isChild = (parent: number | undefined) => parent !== undefined && parents.includes(parent);
  if (Deno.build.os === "linux") {
    const pids = Array.from(Deno.readDirSync("/proc"), ({ name }) => Number(name)).filter(Number.isInteger);
    return pids.filter((other) => isChild(startedProcess(other)?.parent));
  }
  const { stdout } = new Deno.Command("ps", { args: ["-axo", "pid=,ppid="], stderr: "null" }).outputSync();
  const rows = new TextDecoder().decode(stdout).trim().split("\n").map((row) => row.trim().split(/\s+/).map(Number));
  return rows.filter(([, parent]) => isChild(parent)).map(([child]) => child);
}

/** The memory of process `pid` in bytes: writable memory (mapped or not), and resident memory. */
export function processMemory(pid: number): { readonly data: number; readonly resident: number } | undefined {
  const status = Deno.build.os === "linux" ? readIfThere(`/proc/${pid}/status`) : undefined;
  const kilobytes = (field: string) =>
    Number(new RegExp(`^${escapeRegex(field)}:\\s+(\\d+) kB`, "m").exec(status ?? "")?.[1]);
  const [data, resident] = [kilobytes("VmData") * 1024, kilobytes("VmRSS") * 1024];
  return Number.isNaN(data + resident) ? undefined : { data, resident };
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    // A process may also end between the opening and the reading.
    if (isGone(error)) return undefined;
    throw error;
  }
}
