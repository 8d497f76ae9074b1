/** Drift: a schedule plans the states of minions, and the API shows the days; and the queues of the master. */

import { apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { DocumentedSite } from "#tests/support/fleet/documented_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { driftDays, driftDirectory, keepDrift } from "#lib/jobs/drift_log.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_drift_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = {
  ...apiMasterOptions(directory, {
    alice: [".*", "@runner", "@wheel"],
    web: [{ "web*": ["test.*"] }, { "@runner": ["jobs.list_job"] }],
    ops: ["test.*"],
  }),
};

fleetTest("a scheduled plan becomes a day of drift, which users see as far as they see the minions", {
  minions: ["db1", "web1"],
  master,
}, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.root}/srv/top.sls`, "base:\n  '*': [motd]\n");
  const name = `${fleet.root}/{{ grains.id }}.motd`;
  Deno.writeTextFileSync(
    `${fleet.root}/srv/motd.sls`,
    `motd:\n  file.managed:\n    - name: ${name}\n    - contents: hello\n`,
  );
  Deno.writeTextFileSync(`${fleet.root}/db1.motd`, "hello\n");
  const [alice, web, ops] = [await site.logIn("alice"), await site.logIn("web"), await site.logIn("ops")];
  const get = (token: string, path: string) => site.ask("GET", `/api/v1/${path}`, { token });
  const atMs = Date.now();
  const yesterday = atMs - 86_400_000;
  keepDrift(driftDirectory(fleet.masterOpts.cachedir), {
    id: "web1",
    atMs: yesterday,
    outcome: "failed",
    states: [`file.managed ${fleet.root}/web1.motd`, "pkg.installed nginx"],
  }, () => {});
  await fleet.salt("*", "schedule.add", "drift", "function=state.plan", "hours=24");
  await fleet.salt("*", "schedule.run_job", "drift", "force=True");
  await eventually(
    async () => ((await get(alice, "drift?days=1")).body.days as { planned: number }[])[0].planned === 2,
    {
      what: "both plans",
      withinMs: 30_000,
    },
  );
  const state = `file.managed ${fleet.root}/web1.motd`;
  const [day, today] = driftDays(2, atMs);
  const { body } = await get(alice, "drift?days=2");
  assertEquals(body, {
    days: [
      {
        day,
        planned: 1,
        differ: 0,
        failed: 1,
        states: [{ state, minions: 1 }, { state: "pkg.installed nginx", minions: 1 }],
      },
      { day: today, planned: 2, differ: 1, failed: 0, states: [{ state, minions: 1 }] },
    ],
    states: [{ state, minions: 1, days: 2 }, { state: "pkg.installed nginx", minions: 1, days: 1 }],
    minions: { web1: "x!" },
    more: 0,
  });
  // A day without a plan is left out.
  const own = await get(web, "minions/web1/drift?days=3");
  assertEquals(
    (own.body.days as { outcome: string; states: string[] }[]).map(({ outcome, states }) => [outcome, states]),
    [
      ["failed", [state, "pkg.installed nginx"]],
      ["differs", [state]],
    ],
  );
  assertEquals(((await get(web, "drift?days=1")).body.days as { planned: number }[])[0].planned, 1);
  assertEquals((await get(web, "minions/db1/drift")).status, 404);
  assertEquals((await get(ops, "drift")).status, 401);
  assertEquals((await get(alice, "drift?days=32")).status, 400);
});

fleetTest("the queues of the master are shown to those who may run their runner", {
  master: { ...master, reactor: [{ "none/such": ["/none.sls"] }], event_return: "rawfile_json" },
}, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
  await fleet.saltRun("queue.insert", "work", "['a', 'b']");
  const get = (token: string) => site.ask("GET", "/api/v1/queues", { token });
  const rows = async () => ((await get(alice)).body.queues ?? []) as { queue: string; kind: string; waiting: number }[];
  await eventually(async () => (await rows()).length === 3, { what: "the three queues", withinMs: 30_000 });
  assertEquals((await rows()).map(({ queue, kind }) => [queue, kind]), [
    ["reactor", "reactor"],
    ["event_return rawfile_json", "returner"],
    ["work", "queue"],
  ]);
  assertEquals((await rows())[2].waiting, 2);
  // A queue that is none: what the runner says.
  Deno.writeTextFileSync(`${fleet.masterOpts.sqlite_queue_dir}/odd.db`, "no database\n".repeat(100));
  const odd = await get(alice);
  assertEquals(odd.status, 400);
  assertMatch(Object(odd.body.error).message, /^Exception occurred in runner overview\.queues: .*odd/s);
  assertEquals((await get(ops)).status, 401);
});
