/**
 * Removes the master's cache directory while the master runs.
 * @module
 */

import { eventually } from "#tests/support/eventually.ts";
import { echo, ended } from "./disk.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

/** See {@linkcode Fault}. */
export const cacheRemoved: Fault = {
  name: "cache-removed",
  what: "rm -rf of the master's cache directory while the master runs",
  promise: "the master makes it again, with the operators' keys; no restart is needed",
  async run({ say }): Promise<Figure[]> {
    const minions = 2;
    await using fleet = await ProcessFleet.start({ minions, master: { loop_interval: 1 } });
    await echo(fleet, "before");
    // The master may make a file in a directory that is just being emptied: then it is removed again.
    await eventually(() => {
      Deno.removeSync(fleet.cacheDir, { recursive: true });
      return true;
    }, { what: "the end of the cache directory" });
    const removed = performance.now();
    await eventually(async () => await echo(fleet, "after") === minions, {
      what: "answers",
    }).catch(() => {});
    const afterMs = Math.round(performance.now() - removed);
    say(`answers again after ${afterMs} ms`);
    const stored = fleet.jobs.list().length;
    await fleet.stopMinion(fleet.ids[0]);
    await fleet.startMinion(fleet.ids[0]);
    await fleet.allPresent([fleet.ids[0]]).catch(() => {});
    const present = fleet.present().length;
    return [
      { name: "answers to all again after, ms", value: afterMs, atMost: 10_000 },
      { name: "jobs stored", value: stored, atLeast: 1 },
      { name: "present after one signed in again", value: present, atLeast: 1 },
      { name: "answers at the end", value: await echo(fleet, "end"), atLeast: minions },
      { name: "processes that ended", value: ended(fleet), atMost: 0 },
    ];
  },
};
