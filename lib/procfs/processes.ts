/**
 * The processes of this host, read from `/proc` and formatted as by `ps`.
 * Source: proc(5); procps' `ps` for the format of kernel threads and dead processes.
 * @module
 */

import { findUser } from "#lib/os/users.ts";

/** One process. */
export interface Process {
  readonly pid: number;
  /** Name of the effective user, or the uid as text if it has no name. */
  readonly user: string;
  /** The command line; `[name]` for a kernel thread. */
  readonly command: string;
}

/** Every process, by pid; those that end meanwhile are skipped. */
export function listProcesses(): Process[] {
  const pids = Array.from(Deno.readDirSync("/proc"), (entry) => Number(entry.name)).filter(Number.isInteger);
  const names = new Map<number, string>();
  return pids.sort((a, b) => a - b).flatMap((pid) => {
    try {
      const status = Deno.readTextFileSync(`/proc/${pid}/status`);
      const uid = Number(/^Uid:\s+\d+\s+(\d+)/m.exec(status)?.[1]);
      const user = names.get(uid) ?? findUser(uid)?.name ?? String(uid);
      names.set(uid, user);
      return [{ pid, user, command: commandOf(pid, status) }];
    } catch {
      return [];
    }
  });
}

function commandOf(pid: number, status: string): string {
  const words = Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0").join(" ").trim().split(/\s+/).join(" ");
  if (words !== "") return words;
  const dead = /^State:\s+Z/m.test(status) ? " <defunct>" : "";
  return `[${/^Name:\s+(.*)$/m.exec(status)?.[1] ?? ""}]${dead}`;
}
