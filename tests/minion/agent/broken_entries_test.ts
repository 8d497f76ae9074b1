/**
 * What acts by itself, with every form of broken entry: each is named with file and line, and the others work.
 * @module
 */

import { equals, isMap, map } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JOB = { function: "test.echo", args: ["x"] };

/** Entries of a minion's file, and what its log says of each that is broken. */
const MINION = {
  schedule: {
    text: "x",
    list: [1],
    zero: { ...JOB, seconds: 0 },
    minus: { ...JOB, minutes: -1 },
    cron: { ...JOB, cron: "every day" },
    good: { ...JOB, seconds: 1, jid_include: true },
  },
  beacons: {
    text: "x",
    number: 5,
    soon: [{ beacon_module: "load" }, { interval: "soon" }],
    empty: [{ beacon_module: "memusage" }],
    never: [{ beacon_module: "memusage" }, { percent: 101 }, { interval: -1 }],
    good: [{ beacon_module: "memusage" }, { percent: 0 }],
  },
  mine_functions: {
    "no.such": [],
    raises: [{ mine_function: "test.exception" }, "boom"],
    good: [{ mine_function: "test.echo" }, "fine"],
  },
  mine_interval: 0,
};

const SAID: readonly string[] = [
  'schedule, job text: Scheduled job "text" should have a dict value, not str',
  'schedule, job list: Scheduled job "list" should have a dict value, not list',
  "schedule, job zero: Invalid interval: 0 seconds",
  "schedule, job minus: Invalid interval: -60 seconds",
  "schedule, job cron: Invalid cron string.",
  "Beacon text configuration invalid, not running.\nConfiguration for text beacon must be a list.",
  "Beacon number configuration invalid, not running.",
  "Beacon soon configuration invalid, not running.\ninterval soon is no time",
  "Beacon empty configuration invalid, not running.\nConfiguration for memusage beacon requires percent.",
  "Beacon never: interval -1 is not above 0",
];

fleetTest("a minion names each broken entry by file and line, and does what the others say", {
  minion: MINION,
}, async (fleet) => {
  using events = await fleet.listen("salt/beacon/web1/good/");
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
  assert(await events.next(60_000) !== undefined, "no event of the beacon");
  const place = `${fleet.minionConfigDir("web1")}/minion:1: `;
  const has = (text: string) => fleet.logs.some((line) => line.includes(text));
  for (const text of SAID) await eventually(() => has(place + text), { what: `${place}${text}` });
  await eventually(() => has("no.such") && has("boom"), { what: "the broken functions of the mine in the log" });
  const mine = map({ web1: map({ web1: "fine" }) });
  await eventually(async () => equals(await fleet.saltJson("web1", "mine.get", "web1", "good"), mine), {
    what: "the mine",
  });
  await eventually(async () => {
    const status = await fleet.saltJson("web1", "schedule.job_status", "good");
    const job = isMap(status) ? status.get("web1") : undefined;
    return isMap(job) && job.has("_last_run");
  }, { what: "a run of the job" });
});

fleetTest("a schedule and beacons that are no maps are named by file and line, and the minion works", {
  minion: { schedule: ["x"], beacons: ["x"] },
}, async (fleet) => {
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
  const place = `${fleet.minionConfigDir("web1")}/minion:1: `;
  const has = (text: string) => fleet.logs.some((line) => line.includes(place + text));
  assert(has("schedule: The schedule in the configuration must be of type dict, not list"));
  assert(has("The option beacons is no map of names; no beacon of it runs"));
  assertEquals((await fleet.salt("web1", "test.ping")).code, 0);
});

Deno.test("a reactor names each broken entry by file and line, and does what the others say", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/raises.sls`, "a:\n  {{ salt.no.such() }}\n");
    Deno.writeTextFileSync(`${root}/undefined.sls`, "a:\n  local.test.arg:\n    - tgt: {{ data.none.other }}\n");
    const say = "a:\n  local.test.arg:\n    - tgt: web1\n    - arg: [{{ data.data.n }}]\n";
    Deno.writeTextFileSync(`${root}/say.sls`, say);
    const reactor = [
      "no map",
      { "t/say": `${root}/say.sls`, two: "tags" },
      { "t/say": null },
      { "t/*": `${root}/none*.sls` },
      { "t/*": [`${root}/raises.sls`, `${root}/undefined.sls`] },
      { "t/*": `${root}/say.sls` },
    ];
    await using fleet = await startFleet({ minions: ["web1"], master: { reactor, reactor_limits: { "t/storm": 2 } } });
    const published = async () => {
      const { out } = await fleet.saltRun("jobs.list_jobs", "search_function=test.arg", "--out=json");
      const jobs = parseJson(out);
      assert(isMap(jobs));
      return [...jobs.values()].map((job) => {
        const args = isMap(job) ? job.get("Arguments") : undefined;
        return Array.isArray(args) ? Number(args[0]) : 0;
      }).sort();
    };
    // A storm of one minion: two of its events start reactions, and other tags do all the same.
    for (const n of [1, 2, 3, 4]) await fleet.salt("web1", "event.send", "t/storm", `{n: ${n}}`);
    await fleet.salt("web1", "event.send", "t/say", "{n: 5}");
    await eventually(async () => (await published()).includes(5), { what: "the job of the last event" });
    assertEquals(await published(), [1, 2, 5]);
    // The report is written once a second.
    const named = async () => {
      const report = parseJson((await fleet.saltRun("reactor.status", "--out=json")).out);
      const errors = isMap(report) ? report.get("errors") : undefined;
      return Array.isArray(errors) ? errors.map((error) => isMap(error) ? String(error.get("error")) : "") : [];
    };
    const file = `${fleet.configDir}/master:1: `;
    for (
      const text of [
        `${file}entry 1: it is no map`,
        `${file}entry 2: it has 2 tags`,
        `${file}entry 3: the files of t/say are neither`,
        `${root}/none*.sls: `,
        `${root}/raises.sls:2: `,
        `${root}/undefined.sls:3: `,
        "Too many events t/storm",
      ]
    ) {
      await eventually(async () => (await named()).some((each) => each.includes(text)), { what: text, everyMs: 300 });
    }
  }));
