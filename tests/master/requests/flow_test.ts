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
  readonly running?: number;
  readonly waiting?: number;
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

/** When each minion ran a job of `cmd.run`, in seconds, in their order. */
function runsIn(text: string): (readonly [from: number, to: number])[] {
  const runs = Object.values<string>(JSON.parse(text)).map((out) => out.trim().split("\n").map(Number));
  return runs.map(([from, to]) => [from, to] as const).toSorted(([a], [b]) => a - b);
}

const CLOCKED = "date +%s.%N; sleep 0.7; date +%s.%N";

fleetTest("jobs run on as many minions at once as the rule says, also over a restart of the master", {
  minions: ["m1", "m2", "m3"],
  master: { flow: [{ fun: "cmd.run", running: 1 }] },
}, async (fleet) => {
  // Shorter than the others wait for their turn.
  const run = await fleet.salt("-t", "1", "--out=json", "--static", "*", "cmd.run", CLOCKED);
  assertEquals(run.code, 0, run.err);
  assertEquals(run.err, "2 of 3 minions wait for their turn (rule 1)\n");
  const runs = runsIn(run.out);
  assertEquals(runs.length, 3);
  for (const [i, [from]] of runs.entries()) assert(i === 0 || from >= runs[i - 1][1], `${runs}`);
  assertEquals((await fleet.salt("*", "test.ping")).err, "");
  const { out } = await fleet.salt("--async", "*", "cmd.run", CLOCKED);
  const jid = /\d{20}/.exec(out)?.[0] ?? "";
  await fleet.stopMaster();
  await fleet.startMaster();
  const found = async () => (await fleet.saltRun("jobs.lookup_jid", jid, "--out=json")).out;
  await eventually(async () => runsIn(await found()).length === 3, { what: "the returns of all three" });
  for (const [i, [from]] of runsIn(await found()).entries()) assert(i === 0 || from >= runsIn(await found())[i - 1][1]);
  // The counts are written now and then: between two minions none had a place, and one waited.
  const [row] = await countsOf(fleet, ([row]) => row?.running === 0 && row.waiting === 0);
  assertEquals(row.rule.fun, "cmd.run");
});

/** How many minions have begun a job that writes a line into a file. */
function begun(path: string): number {
  return Deno.readTextFileSync(path).split("\n").length - 1;
}

fleetTest("a job is ended for minions that wait for their turn: they have an outcome, and never get it", {
  minions: ["m1", "m2", "m3"],
  master: { flow: [{ fun: "cmd.run", running: 1 }] },
}, async (fleet) => {
  const path = `${fleet.root}/begun`;
  Deno.writeTextFileSync(path, "");
  const running = fleet.salt("--out=json", "--static", "--summary", "*", "cmd.run", `echo x >> ${path}; sleep 60`);
  await eventually(() => begun(path) === 1, { what: "the first minion" });
  const jobs = JSON.parse((await fleet.saltRun("jobs.list_jobs", "search_function=cmd.run", "--out=json")).out);
  const [jid] = Object.keys(jobs);
  assertEquals((await fleet.salt("*", "saltutil.running")).err, "");
  const killed = await fleet.salt("*", "saltutil.kill_job", jid);
  assertEquals([killed.code, killed.err], [0, ""]);
  const ended = await running;
  assert(ended.code !== 0, ended.out);
  assertEquals(
    ended.out.match(/Cancelled: the job was ended while this minion waited for its turn/g)?.length,
    2,
    ended.out,
  );
  const outcomes = JSON.parse((await fleet.saltRun("jobs.outcomes", jid, "--out=json")).out);
  const words = Object.values<{ outcome: string }>(outcomes).map(({ outcome }) => outcome).toSorted();
  assertEquals(words.filter((word) => word === "cancelled").length, 2, `${words}`);
  // Another one gets its turn at once, also after a restart of the master, and the ended one goes to nobody.
  await fleet.stopMaster();
  await fleet.startMaster();
  assertEquals((await fleet.salt("-t", "30", "*", "cmd.run", "/bin/true")).code, 0);
  assertEquals(begun(path), 1);
  const [row] = await countsOf(fleet, ([row]) => row?.running === 0 && row.waiting === 0);
  assertEquals(row.passed, 3); // since the restart
});

fleetTest("a rule for all functions holds up no question about jobs, and no end of them", {
  minions: ["m1"],
  master: { flow: [{ fun: "*", running: 1 }] },
}, async (fleet) => {
  const path = `${fleet.root}/begun`;
  Deno.writeTextFileSync(path, "");
  const running = fleet.salt("m1", "cmd.run", `echo x >> ${path}; sleep 60`);
  await eventually(() => begun(path) === 1, { what: "the job" });
  const [jid] = Object.keys(JSON.parse((await fleet.saltRun("jobs.active", "--out=json")).out));
  for (const words of [["is_running", "cmd.*"], ["running"], ["find_job", jid], ["term_all_jobs"], ["kill_all_jobs"]]) {
    const { code, err } = await fleet.salt("-t", "20", "m1", `saltutil.${words[0]}`, ...words.slice(1));
    assertEquals([words[0], code, err], [words[0], 0, ""]);
  }
  await running;
});

Deno.test("a rule that cannot be read stops the start", async () => {
  await assertRejects(async () => {
    await using _fleet = await startFleet({ minions: [], master: { flow: [{ user: "ci", jobs: "often" }] } });
  });
  await assertRejects(async () => {
    const flow = [{ user: "ci", running: 5 }];
    await using _fleet = await startFleet({ minions: [], master: { flow, order_masters: true } });
  });
});
