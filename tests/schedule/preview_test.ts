/** The next runs of a job, as `schedule.preview` shows them. */

import { previewRuns } from "#lib/schedule/preview.ts";
import { Schedule } from "#lib/schedule/schedule.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const NOW = Date.parse("2026-11-23T12:00:00Z");

/** Seconds from now of the runs of a job. */
function preview(entry: Readonly<Record<string, unknown>>, explicit: readonly number[], count = 4): number[] {
  const random = () => 0.5;
  const schedule = new Schedule({
    id: "web1",
    whens: () => undefined,
    random,
    running: () => 0,
    report: (name, error) => {
      throw new Error(`${name}: ${error}`);
    },
  });
  schedule.setOwn(map({ a: { function: "test.ping", ...entry } }), NOW);
  const item = schedule.items.get("a");
  assert(item?.job !== undefined);
  const state = { ...item.state, startPending: false, explicit: explicit.map((seconds) => NOW + seconds * 1000) };
  const runs = previewRuns(item.job, state, { settings: schedule.settings, random, count, nowMs: NOW });
  return runs.map(({ moment }) => (moment - NOW) / 1000);
}

Deno.test("an interval counts from a run at a moment of its own", () => {
  assertEquals(preview({ seconds: 60 }, []), [60, 120, 180, 240]);
  assertEquals(preview({ seconds: 60 }, [90]), [60, 90, 150, 210]);
});

Deno.test("a job with moments keeps them beside a run of its own, and has no more runs after the last one", () => {
  const when = ["2026-11-23T12:01:00", "2026-11-23T12:03:00"];
  assertEquals(preview({ when, timezone: "UTC" }, [90]), [60, 90, 180]);
  assertEquals(preview({ when, timezone: "UTC" }, [240]), [60, 180, 240]);
});
