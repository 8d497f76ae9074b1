/** The days of drift: what a return says, what is kept, and for how long. */

import { driftDays, driftDirectory, driftOf, keepDrift, readDrift } from "#lib/jobs/drift_log.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 10, 29, 12);

Deno.test("only a return of the scheduled job drift counts, and says what differs", () => {
  const states = (result: boolean | null) => new Map([["file_|-motd_|-/etc/motd_|-managed", map({ result })]]);
  const load = (returned: unknown, schedule = "drift") => map({ schedule }).set("return", returned as null);
  assertEquals(driftOf(load(states(null), "other")), undefined);
  assertEquals(driftOf(map({ return: states(null) })), undefined);
  const name = ["file.managed /etc/motd"];
  assertEquals(driftOf(load(states(null).set("plan", map({ hash: "x" })))), { outcome: "differs", states: name });
  assertEquals(driftOf(load(states(true))), { outcome: "ok", states: [] });
  assertEquals(driftOf(load(states(false))), { outcome: "failed", states: name });
  assertEquals(driftOf(load(["Rendering SLS failed"])), { outcome: "failed", states: [] });
  const many = Array.from(
    { length: 500 },
    (_, i) => [`file_|-a_|-${"x".repeat(300)}${i}_|-managed`, map({ result: null })],
  );
  const found = driftOf(load(new Map(many as [string, Map<string, null>][])));
  assertEquals([found?.states.length, Math.max(...found?.states.map(({ length }) => length) ?? [])], [100, 200]);
});

Deno.test("the last entry of a minion and a day counts, and days go after a month", async () => {
  const directory = Deno.makeTempDirSync({ prefix: "drift_" });
  const log: string[] = [];
  const keep = (id: string, atMs: number, outcome: "ok" | "differs") =>
    keepDrift(directory, { id, atMs, outcome, states: outcome === "ok" ? [] : ["a.b c"] }, (text) => log.push(text));
  try {
    keep("m1", NOW - 31 * DAY_MS, "differs");
    keep("m1", NOW - 30 * DAY_MS, "differs");
    keep("m1", NOW, "differs");
    keep("m1", NOW + 1, "ok");
    keep("m2", NOW, "differs");
    // A line that a power failure cut off, and one of somebody else.
    Deno.writeTextFileSync(`${directory}/2026-11-29.jsonl`, '{"id": "m3", "at\n{}\n', { append: true });
    const today = await readDrift(directory, "2026-11-29");
    assertEquals([...today.values()].map(({ id, outcome }) => [id, outcome]), [["m1", "ok"], ["m2", "differs"]]);
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name).sort(), [
      "2026-10-30.jsonl",
      "2026-11-29.jsonl",
    ]);
    assertEquals(driftDays(3, NOW), ["2026-11-27", "2026-11-28", "2026-11-29"]);
    assertEquals([...(await readDrift(directory, "2026-11-28")).keys()], []);
    assertEquals(log, []);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("a day's file that is full takes no more, and lines that are JSON and no entries are none", () =>
  withTemporaryDirectory(async (root) => {
    const directory = driftDirectory(root), path = `${directory}/2026-11-29.jsonl`;
    const keep = () => keepDrift(directory, { id: "m1", atMs: NOW, outcome: "ok", states: [] }, () => {});
    assertEquals(keep(), true);
    Deno.writeTextFileSync(path, '5\n"text"\n[]\n', { append: true });
    assertEquals([...(await readDrift(directory, "2026-11-29")).keys()], ["m1"]);
    Deno.truncateSync(path, (64 << 20) + 1);
    assertEquals(keep(), false);
  }));
