import { WarmProcesses } from "#lib/minion/worker/warm_processes.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

/** A process that remembers whether it was stopped. */
class Process {
  stopped = false;

  stop(): Promise<void> {
    this.stopped = true;
    return Promise.resolve();
  }
}

Deno.test("a process that waits too long for a job is ended, and is not given to one", async () => {
  const warm = new WarmProcesses<Process>(5);
  const [taken, idle] = [new Process(), new Process()];
  warm.put(taken, "a");
  warm.put(idle, "b");
  assertEquals(warm.take("a"), taken);
  await eventually(() => idle.stopped, { what: "the end of the idle process" });
  assertEquals([warm.take("b"), warm.all, taken.stopped], [undefined, [], false]);
});

Deno.test("two processes wait at most: the one that has waited longest is ended for another", () => {
  const warm = new WarmProcesses<Process>(60_000);
  const all = [new Process(), new Process(), new Process()];
  for (const process of all) warm.put(process, "a");
  assertEquals(all.map(({ stopped }) => stopped), [true, false, false]);
  assertEquals(warm.take("a"), all[2]);
  assertEquals(warm.clear(), [all[1]]);
  assertEquals(warm.all, []);
});
