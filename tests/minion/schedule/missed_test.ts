/**
 * What a minion that was off has missed of its schedule (`missed:`): its file tells the next process up to where its
 * jobs have run.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { HandClock, openSchedule, START } from "./open_schedule.ts";

const HOUR = 3_600_000;

const hourly = (missed?: string) => ({
  function: "test.echo",
  args: [missed ?? "none"],
  cron: "0 * * * *",
  timezone: "UTC",
  ...missed !== undefined && { missed },
});
const SCHEDULE = { run: hourly("run"), once: hourly("once"), skip: hourly("skip"), none: hourly() };

/** One process of the minion that begins at a time, and what it starts. */
function begin(root: string, clock: HandClock) {
  const { schedule, started } = openSchedule(root, { clock, config: { schedule: SCHEDULE } });
  schedule.start();
  return { schedule, started };
}

/** The runs of each job, in their order. */
function counts(started: readonly { readonly name: string }[]): Record<string, number> {
  const found: Record<string, number> = { run: 0, once: 0, skip: 0, none: 0 };
  for (const { name } of started) found[name]++;
  return found;
}

for (const isReboot of [false, true]) {
  Deno.test(`a minion that was off for three moments makes up for them as missed says${isReboot ? ", also after a reboot" : ""}`, () =>
    withTemporaryDirectory((root) => {
      const clock = new HandClock(START, "boot");
      const before = begin(root, clock);
      clock.pass(HOUR);
      assertEquals(counts(before.started), { run: 1, once: 1, skip: 1, none: 1 });
      before.schedule.close();
      // Off from 1:00:30 to 4:10:30: 2:00, 3:00 and 4:00 pass.
      const later = new HandClock(START + HOUR * 4 + 600_000, isReboot ? "another boot" : "boot");
      const after = begin(root, later);
      assertEquals(counts(after.started), { run: 3, once: 1, skip: 0, none: 0 });
      const [once] = after.started.filter(({ name }) => name === "once");
      assertEquals([once.missed, once.planned], [3, "2026-11-23T04:00:00"]);
      // What was made up for is not made up for again.
      after.schedule.close();
      const third = begin(root, new HandClock(later.wallMs + 60_000, "boot"));
      assertEquals(counts(third.started), { run: 0, once: 0, skip: 0, none: 0 });
      third.schedule.close();
      return Promise.resolve();
    }));
}

Deno.test("a clock that was set far back while the minion was off, or a broken file, starts nothing twice", () =>
  withTemporaryDirectory((root) => {
    const clock = new HandClock(START, "boot");
    const before = begin(root, clock);
    clock.pass(HOUR);
    before.schedule.close();
    const back = begin(root, new HandClock(START - 5 * HOUR, "boot"));
    assertEquals(back.started, []);
    back.schedule.close();
    Deno.writeTextFileSync(`${root}/cache/schedule`, "\xc1 no map");
    const broken = begin(root, new HandClock(START + 3 * HOUR, "boot"));
    assertEquals(broken.started, []);
    broken.schedule.close();
    return Promise.resolve();
  }));
