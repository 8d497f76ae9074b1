/**
 * Schedules over hours and weeks in virtual time: a loop whose clock and timer are the test's.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Schedule } from "#lib/schedule/schedule.ts";
import { hostClock, type LoopClock } from "#lib/schedule/loop_clock.ts";
import { ScheduleLoop } from "#lib/schedule/schedule_loop.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

const START = Date.parse("2026-11-23T00:00:00Z");
const HOUR = 3_600_000;

/** A clock that the test moves: its timer rings late by up to half a second, as a busy host's does. */
class VirtualClock implements LoopClock {
  /** @param longestSleepMs Infinity: the timer rings when the clock is set, as the kernel's does. */
  constructor(readonly longestSleepMs = Infinity) {}

  #now = { wallMs: START, boot: { id: "b", ms: 1_000_000 } };
  #timer: { readonly at: number; readonly run: () => void } | undefined;
  #seed = 1;
  rings = 0;

  now() {
    return this.#now;
  }

  after(ms: number, run: () => void): void {
    this.#timer = { at: this.#now.boot.ms + ms, run };
  }

  close(): void {
    this.#timer = undefined;
  }

  /** Sets the wall clock. */
  jump(ms: number): void {
    this.#now = { wallMs: this.#now.wallMs + ms, boot: this.#now.boot };
    if (this.longestSleepMs !== Infinity || this.#timer === undefined) return;
    const { run } = this.#timer;
    this.#timer = undefined;
    run();
  }

  pass(ms: number): void {
    const { wallMs, boot } = this.#now;
    this.#now = { wallMs: wallMs + ms, boot: { id: boot.id, ms: boot.ms + ms } };
  }

  /** Lets time pass, and rings. */
  run(ms: number): void {
    const end = this.#now.boot.ms + ms;
    while (this.#timer !== undefined && this.#timer.at <= end) {
      const { at, run } = this.#timer;
      this.#timer = undefined;
      this.#seed = (this.#seed * 48_271) % 2_147_483_647;
      this.pass(Math.max(at - this.#now.boot.ms, 0) + this.#seed % 500);
      this.rings++;
      run();
    }
    if (this.#now.boot.ms < end) this.pass(end - this.#now.boot.ms);
  }
}

function start(
  jobs: Record<string, unknown>,
  { id = "m1", clock = new VirtualClock(), log = SILENT_LOGGER, failing = "" } = {},
) {
  const starts: { readonly name: string; readonly at: number; readonly times: number }[] = [];
  const errors: string[] = [];
  const schedule = new Schedule({
    id,
    whens: () => undefined,
    random: Math.random,
    running: () => 0,
    report: (name) => errors.push(name),
  });
  const loop = new ScheduleLoop({
    schedule,
    log,
    clock,
    start: ({ job, run }) => {
      if (job.name === failing) throw new Error("no worker");
      starts.push({ name: job.name, at: clock.now().wallMs - START, times: run.times });
    },
  });
  schedule.setOwn(map(jobs), START);
  loop.turn();
  const of = (name: string) => starts.filter((run) => run.name === name).map(({ at }) => at);
  return { clock, schedule, loop, of, starts, errors };
}

const PING = { function: "test.ping", run_on_start: false };

Deno.test("an interval does not drift over a week, and cron has each of its moments", () => {
  const { clock, of } = start({
    interval: { ...PING, seconds: 7 },
    cron: { ...PING, cron: "*/5 * * * *", timezone: "UTC" },
    when: { ...PING, when: ["5:00pm", "Monday 3am"], timezone: "UTC" },
  });
  clock.run(7 * 24 * HOUR);
  const interval = of("interval");
  assertEquals(interval.length, Math.floor(7 * 24 * 3600 / 7));
  assert(interval.every((at, i) => at >= (i + 1) * 7_000 && at < (i + 1) * 7_000 + 1_000));
  assert(Math.abs(of("cron").length - 7 * 24 * 12) <= 1);
  assertEquals(of("when").length, 8);
});

for (
  const [kind, longestSleepMs, most] of [["the kernel's timer", Infinity, 0], ["other timers", 60_000, 8 * 60]] as const
) {
  Deno.test(`eight hours with fifty jobs that are not due wake the loop ${most} times at most, with ${kind}`, () => {
    const jobs = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`j${i}`, { ...PING, days: 2 + i }]));
    const { clock, starts } = start(jobs, { clock: new VirtualClock(longestSleepMs) });
    clock.run(8 * HOUR);
    assertEquals(starts, []);
    assert(clock.rings <= most, `${clock.rings} times`);
  });
}

Deno.test("eight hours of fifty jobs wake the loop once for each moment, and each job runs at all of its moments", () => {
  const every = (i: number) => 5 + i;
  const jobs = Object.fromEntries(
    Array.from({ length: 50 }, (_, i) => [`j${i}`, { ...PING, minutes: every(i) }]),
  );
  const { clock, of } = start(jobs);
  clock.run(8 * HOUR);
  const moments = new Set<number>();
  for (let i = 0; i < 50; i++) {
    const runs = of(`j${i}`);
    assertEquals(runs.length, Math.floor(480 / every(i)), `j${i}`);
    assert(runs.every((at, n) => at - (n + 1) * every(i) * 60_000 < 1_000), `j${i} is late`);
    for (let n = 1; n <= runs.length; n++) moments.add(n * every(i));
  }
  assert(clock.rings <= moments.size + 1, `${clock.rings} wakes for ${moments.size} moments`);
});

Deno.test("the kernel's timer rings at its moment, and again when it is set while it waits", async () => {
  const clock = hostClock();
  try {
    assertEquals(clock.longestSleepMs, Deno.build.os === "linux" ? Infinity : 60_000);
    const rung: string[] = [];
    clock.after(3_600_000, () => rung.push("never"));
    const from = Date.now();
    await new Promise<void>((resolve) => clock.after(50, resolve));
    assert(Date.now() - from >= 50);
    await new Promise<void>((resolve) => clock.after(20, resolve));
    assertEquals(rung, []);
    clock.close();
    clock.after(1, () => rung.push("after its end"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    assertEquals(rung, []);
  } finally {
    clock.close();
  }
});

Deno.test("a clock that is set does not move an interval, and repeats no moment of a time on the wall", () => {
  const { clock, of } = start({
    interval: { ...PING, minutes: 10 },
    cron: { ...PING, cron: "0 * * * *", timezone: "UTC" },
  });
  clock.run(1.25 * HOUR);
  assertEquals([of("interval").length, of("cron").length], [7, 1]);
  clock.jump(-HOUR);
  clock.run(HOUR);
  assertEquals([of("interval").length, of("cron").length], [13, 1]);
  clock.run(HOUR);
  assertEquals(of("cron").length, 2);
});

Deno.test("a clock that was hours ahead, and is set right, does not hold up times on the wall", () => {
  const { clock, of } = start({ cron: { ...PING, cron: "0 * * * *", timezone: "UTC" }, broken: { seconds: 1 } });
  clock.run(4.25 * HOUR);
  assertEquals(of("cron").length, 4);
  clock.jump(-4 * HOUR);
  clock.run(HOUR);
  assertEquals(of("cron").length, 5);
});

Deno.test("a job that cannot be started is named, and the others run; a loop that has ended starts nothing", () => {
  const { log, lines } = memoryLog();
  const { clock, loop, of } = start({ a: { ...PING, minutes: 1 }, b: { ...PING, minutes: 1 } }, { log, failing: "a" });
  clock.run(1.5 * 60_000);
  assertEquals(of("b").length, 1);
  assertEquals(lines, ["ERROR The scheduled job a could not be started: no worker"]);
  loop.close();
  clock.pass(HOUR);
  loop.turn();
  assertEquals(of("b").length, 1);
});

const LATER = { run_explicit: [{ time: "2026-11-23T00:30:00" }] };

for (
  const [name, entry, pause, reason] of [
    ["a host that slept", LATER, HOUR, "missed"],
    ["the end of the job", { ...LATER, until: "2026-11-23T00:10" }, 0, "until_passed"],
  ] as const
) {
  Deno.test(`a postponed run does not come after ${name}: ${reason}`, () => {
    const { clock, loop, schedule, starts } = start({ a: { ...PING, days: 9, timezone: "UTC", ...entry } });
    clock.pass(pause);
    loop.turn();
    clock.run(HOUR);
    assertEquals(starts, []);
    const state = schedule.items.get("a")?.state;
    assertEquals([state?.skipped?.reason, state?.explicit], [reason, []]);
  });
}

for (
  const [missed, runs] of [["run", [3]], ["once", [1]], ["skip", []], [undefined, [1]]] as const
) {
  Deno.test(`a host that slept for three moments of cron, with missed: ${missed}`, () => {
    const { clock, loop, starts } = start({
      a: { ...PING, cron: "0 * * * *", timezone: "UTC", ...missed && { missed } },
    });
    clock.run(0.5 * HOUR);
    clock.pass(3 * HOUR);
    loop.turn();
    assertEquals(starts.map(({ times }) => times), [...runs]);
  });
}

Deno.test("splay: auto spreads minions evenly, and a minion's runs keep their distance", () => {
  const offsets = Array.from({ length: 1_000 }, (_, i) => {
    const { schedule } = start({ a: { ...PING, cron: "0 * * * *", timezone: "UTC", splay: "auto" } }, {
      id: `web${i}`,
    });
    const item = schedule.items.get("a");
    assert(item !== undefined);
    return ((schedule.nextMoment(item) ?? 0) - START) % HOUR;
  });
  const perMinute = Array.from({ length: 10 }, (_, m) => offsets.filter((ms) => Math.floor(ms / 60_000) === m).length);
  assertEquals(perMinute.reduce((sum, n) => sum + n), 1_000);
  assert(perMinute.every((n) => n > 60 && n < 140), perMinute.join(" "));
  const { clock, of } = start({ a: { ...PING, minutes: 60, splay: "auto" } });
  clock.run(24 * HOUR);
  const runs = of("a");
  assert(runs.slice(1).every((at, i) => Math.abs(at - runs[i] - HOUR) < 1_000));
});

Deno.test("a time zone and its summer time count for a job", () => {
  const { clock, of } = start({
    cron: { ...PING, cron: "30 4 * * *", timezone: "Europe/Berlin" },
    when: { ...PING, when: "4:30", timezone: "America/New_York" },
  });
  clock.run(24 * HOUR);
  const hours = [of("cron"), of("when")].map(([at]) => Math.floor(at / 60_000) / 60);
  assertEquals(hours, [3.5, 9.5]);
});

Deno.test("ten thousand jobs run, and broken ones among them are named and stop nothing", () => {
  const jobs: Record<string, unknown> = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, i) => [`j${i}`, { ...PING, seconds: 3600 + i % 60 }]),
  );
  const broken: Record<string, unknown> = {
    text: "x",
    cron: { ...PING, cron: "every day" },
    zero: { ...PING, seconds: 0 },
    minus: { ...PING, seconds: -1 },
    splayed: { ...PING, seconds: 2, splay: { start: 5, end: 1 } },
    after: { ...PING, seconds: 1, after: "x" },
    until: { ...PING, seconds: 1, until: "x" },
    zone: { ...PING, seconds: 1, timezone: "Nowhere/None" },
    nothing: { seconds: 1 },
  };
  const { clock, starts, errors } = start({ ...broken, ...jobs });
  clock.run(1.05 * HOUR);
  assertEquals(starts.length, 10_000);
  assertEquals(errors.sort(), Object.keys(broken).sort());
});
