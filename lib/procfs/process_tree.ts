/**
 * Ends a process with all that it has started. A command of a job has a session of its own, so it is in no group of the
 * process that runs it, and would continue.
 * @module
 */

import { childrenOf } from "./process_facts.ts";

/** Maximum number of generations that are looked for. */
const MAX_GENERATIONS = 32;

/** Kills process `pid`, a child of this one that has not been waited for, and its descendants, each with its group. */
export function killProcessTree(pid: number): void {
  const stopped = new Set<number>();
  let generation = [pid];
  for (let i = 0; generation.length > 0 && i < MAX_GENERATIONS; i++) {
    for (const each of generation) {
      stopped.add(each);
      // A stopped process starts no more, and its children keep it as their parent while they are looked for.
      signal(each, "SIGSTOP");
    }
    generation = childrenOf(...generation).filter((child) => !stopped.has(child));
  }
  for (const each of stopped) {
    killGroup(each);
    signal(each, "SIGKILL");
  }
}

/** Kills the process group of process `pid`, if it leads one of which a process is left. */
export function killGroup(pid: number): void {
  signal(-pid, "SIGKILL");
}

function signal(pid: number, name: Deno.Signal): void {
  try {
    Deno.kill(pid, name);
  } catch {
    // It has ended, or leads no group.
  }
}
