/**
 * The times of checks: the rule with manual clocks, the system's CPU time clock, and an idle master.
 * @module
 */

import process from "node:process";
import { wakeUps } from "#tests/bench/harness/process_figures.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { processorTime } from "#lib/libc/libc.ts";
import { type CpuTimeClocks, CpuTimeWatch, LOOK_MS, WORK_MS } from "#lib/runtime/cpu_time_watch.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

interface Wait {
  readonly at: number;
  resolve(known: boolean): void;
}

/** Manual clocks of time and CPU time, both in milliseconds. */
class Clocks implements CpuTimeClocks {
  readonly #work: Wait[] = [];
  readonly #time: Wait[] = [];
  #nowMs = 1_000;
  #workedMs = 500;
  readonly tells: boolean;

  constructor(tells = true) {
    this.tells = tells;
  }

  now = () => this.#nowMs;

  worked = (ms: number) =>
    this.tells
      ? new Promise<boolean>((resolve) => this.#work.push({ at: this.#workedMs + ms, resolve }))
      : Promise.resolve(false);

  sleep = async (ms: number, signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    signal.addEventListener("abort", () => reject(signal.reason));
    this.#time.push({ at: this.#nowMs + ms, resolve });
    await promise;
  };

  /** Advances time a millisecond at a time; the process uses this fraction of CPU time. */
  async pass(ms: number, work = 0): Promise<void> {
    for (let i = 0; i < ms; i++) {
      this.#nowMs++;
      this.#workedMs += work;
      for (const [waits, now] of [[this.#work, this.#workedMs], [this.#time, this.#nowMs]] as const) {
        for (const wait of waits.splice(0)) {
          if (wait.at <= now) wait.resolve(true);
          else waits.push(wait);
        }
      }
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    }
  }
}

function counting(clocks: CpuTimeClocks): { looks: CpuTimeWatch; count: () => number; failures: unknown[] } {
  let count = 0;
  const failures: unknown[] = [];
  const looks = new CpuTimeWatch(() => count++, (error) => failures.push(error), clocks);
  return { looks, count: () => count, failures };
}

Deno.test("an idle process is not checked, but its first work is", async () => {
  const clocks = new Clocks();
  const { looks, count } = counting(clocks);
  await clocks.pass(10_000);
  assertEquals(count(), 0);
  await clocks.pass(WORK_MS - 1, 1);
  assertEquals(count(), 0);
  await clocks.pass(1, 1);
  assertEquals(count(), 1);
  // Four processors at the same time; the last check was long ago.
  await clocks.pass(10_000);
  await clocks.pass(WORK_MS / 4, 4);
  assertEquals(count(), 2);
  const closed = looks.close();
  await clocks.pass(1, WORK_MS);
  await closed;
});

Deno.test("a busy process is checked once in each interval", async () => {
  const clocks = new Clocks();
  const { looks, count } = counting(clocks);
  await clocks.pass(LOOK_MS * 10, 3);
  assertEquals(count(), 10);
  // A process that works just enough is also checked.
  await clocks.pass(LOOK_MS * 10, WORK_MS / LOOK_MS);
  assert(count() >= 19 && count() <= 20, `${count()} looks`);
  const closed = looks.close();
  await clocks.pass(1, WORK_MS);
  await closed;
});

Deno.test("if the system does not report CPU time, a check runs in each interval", async () => {
  const clocks = new Clocks(false);
  const { looks, count } = counting(clocks);
  await clocks.pass(LOOK_MS * 4);
  assertEquals(count(), 4);
  await looks.close();
  await clocks.pass(LOOK_MS * 4);
  assertEquals(count(), 4);
});

Deno.test("an error of a check is reported, and ends the watch", async () => {
  const clocks = new Clocks();
  const failures: unknown[] = [];
  const looks = new CpuTimeWatch(() => Deno.readTextFileSync("/nowhere"), (error) => failures.push(error), clocks);
  await clocks.pass(LOOK_MS * 4, 1);
  assert(failures.length === 1 && failures[0] instanceof Deno.errors.NotFound, String(failures));
  await looks.close();
});

/** Processor time of this process, in milliseconds. */
function usedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Works for a millisecond, then yields. */
async function work(): Promise<void> {
  for (const endMs = performance.now() + 1; performance.now() < endMs;);
  await new Promise((resolve) => setTimeout(resolve));
}

if (Deno.build.os === "linux") {
  Deno.test("the system's clock waits for the processor time of this process without a time limit", async () => {
    const before = usedMs();
    let used = 0;
    const wait = processorTime(150).then((known) => {
      used = usedMs() - before;
      return known;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    while (used === 0) await work();
    assertEquals(await wait, true);
    assert(used > 140, `after ${used} ms of processor time`); // the kernel's counters are a few milliseconds old
  });

  Deno.test("closing the watch of an idle process costs no more than the work of one check", async () => {
    const looks = new CpuTimeWatch(() => {}, () => {});
    const before = usedMs();
    await looks.close();
    await looks.close();
    assert(usedMs() - before < WORK_MS * 20, `${usedMs() - before} ms of processor time`);
  });

  /**
   * The time that a master is watched, in milliseconds, and the maximum wake-ups of its threads in that time: actually
   * at most four.
   */
  const WATCH_MS = 3_000;
  const WAKE_UPS = 9;

  Deno.test("an idle master with a connected minion wakes up at most a few times a second", async () => {
    await using fleet = await ProcessFleet.start({ minions: 1 });
    assertEquals((await fleet.salt("salt", "m00", "test.ping")).code, 0);
    let [before, sinceMs] = [wakeUps(fleet.master.pid), performance.now()];
    const few = () => {
      const [after, nowMs] = [wakeUps(fleet.master.pid), performance.now()];
      if (nowMs - sinceMs < WATCH_MS) return false;
      const woken = (after - before) * WATCH_MS / (nowMs - sinceMs);
      [before, sinceMs] = [after, nowMs];
      return woken <= WAKE_UPS || Promise.reject(new Error(`${Math.round(woken)} in ${WATCH_MS} ms`));
    };
    // The tasks of its last work end half a minute later.
    await eventually(few, { withinMs: 90_000, everyMs: WATCH_MS, what: "an idle interval" });
  });
}
