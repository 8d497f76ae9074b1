/**
 * The option `flow` on a running master: jobs of a user wait, others do not, and the counts add up.
 * @module
 */

import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type Fleet, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";

/** What `flow.status` shows of each rule. */
type Counts = {
  readonly rule: { readonly fun?: string };
  readonly passed: number;
  readonly dropped: number;
  readonly throttled: number;
}[];

/** The counts when they are so. */
async function countsOf(fleet: Fleet, isSo: (rows: Counts) => boolean): Promise<Counts> {
  let rows: Counts = [];
  await eventually(async () => {
    rows = JSON.parse((await fleet.saltRun("flow.status", "--out=json")).out);
    return isSo(rows);
  }, { what: "these counts" });
  return rows;
}

fleetTest("a user beyond his rule waits for his turn, or is told to come again; other functions pass", {
  minions: ["m1"],
  master: { flow: [{ fun: "test.arg*", jobs: "1/s" }, { fun: "test.echo", jobs: "1/h" }] },
}, async (fleet) => {
  const first = await fleet.salt("m1", "test.arg", "1");
  assertEquals([first.code, first.err], [0, ""]);
  const second = await fleet.salt("m1", "test.arg", "2");
  assertEquals(second.code, 0);
  assertMatch(second.err, /^(waits for its turn \(rule 1\), [\d.]+ s\n)?$/);
  assertEquals((await fleet.salt("m1", "test.echo", "a")).code, 0);
  const refused = await fleet.salt("-t", "2", "m1", "test.echo", "b");
  assertEquals([refused.code, refused.out], [75, ""]);
  assertMatch(refused.err, /^\S+ publishes too many jobs \(flow, rule 2\); try again in \d+(\.\d)? s\n$/);
  assertEquals((await fleet.salt("m1", "test.ping")).code, 0);
  const status = await countsOf(fleet, (rows) => rows[1]?.throttled === 1);
  assertEquals([status[0].passed, status[1].passed, status[1].rule.fun], [2, 1, "test.echo"]);
});

fleetTest("events of a minion beyond its rule are dropped and counted, and its returns come", {
  minions: ["m1"],
  master: { flow: [{ minion: "m*", events: "1/h", burst: 10 }] },
}, async (fleet) => {
  const words = Array.from({ length: 30 }, (_, i) => `flood/${i}`);
  const run = await fleet.salt("m1", "event.send", words[0]);
  assertEquals(run.code, 0);
  for (const tag of words.slice(1)) await fleet.salt("m1", "event.send", tag);
  const isWhole = ([row]: Counts) => row !== undefined && row.dropped > 0 && row.dropped + row.passed >= 60;
  const [{ dropped, passed }] = await countsOf(fleet, isWhole);
  // The threads share the burst of ten; what passes besides is a return for each event.
  assert(dropped >= 15, `${dropped} dropped, ${passed} passed`);
  assertEquals((await fleet.salt("m1", "test.ping")).code, 0);
});

Deno.test("a rule that cannot be read stops the start", async () => {
  await assertRejects(async () => {
    await using _fleet = await startFleet({ minions: [], master: { flow: [{ user: "ci", jobs: "often" }] } });
  });
});
