/**
 * What a minion that was off has missed of its schedule (`missed:`): its file tells the next process up to where its
 * jobs have run.
 * @module
 */

import { loadMinionConfig } from "#lib/config/load.ts";
import { MinionSchedule } from "#lib/minion/schedule/minion_schedule.ts";
import { SCHEDULED } from "#lib/protocol/own_job.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import type { LoopClock } from "#lib/schedule/loop_clock.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const START = Date.parse("2026-11-23T00:00:30Z"), HOUR = 3_600_000;

/** A clock whose timer rings only when the test lets time pass. */
class HandClock implements LoopClock {
  readonly longestSleepMs = Infinity;
  #timer: (() => void) | undefined;

  constructor(public wallMs: number, readonly bootId: string) {}

  now() {
    return { wallMs: this.wallMs, boot: { id: this.bootId, ms: this.wallMs - START + 1_000_000 } };
  }

  after(_ms: number, run: () => void): void {
    this.#timer = run;
  }

  close(): void {
    this.#timer = undefined;
  }

  pass(ms: number): void {
    this.wallMs += ms;
    this.#timer?.();
  }
}

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
  Deno.mkdirSync(`${root}/cache`, { recursive: true });
  const config = { root_dir: root, id: "m1", cachedir: `${root}/cache`, mine_enabled: false, schedule: SCHEDULE };
  Deno.writeTextFileSync(`${root}/minion`, JSON.stringify({ ...config, grains_refresh_every: 0 }));
  const { opts } = loadMinionConfig({ configDir: root });
  const started: { readonly name: string; readonly missed: Value; readonly planned: Value }[] = [];
  const schedule = new MinionSchedule({
    opts,
    log: SILENT_LOGGER,
    data: () => ({ grains: new Map(), pillar: new Map() }),
    begin(load, _isNoted, ended) {
      const about = load.get(SCHEDULED);
      const field = (key: string) => isMap(about) ? about.get(key) ?? null : null;
      started.push({ name: String(field("schedule")), missed: field("missed"), planned: field("planned") });
      ended();
    },
    clock,
  });
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
