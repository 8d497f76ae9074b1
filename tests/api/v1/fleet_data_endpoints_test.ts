/** Schedules, beacons, pillar, files, and the audit log: each by the right to the function that shows it. */

import { apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { DocumentedSite } from "#tests/support/fleet/documented_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_data_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));
Deno.mkdirSync(`${directory}/pillar`);
Deno.writeTextFileSync(`${directory}/pillar/top.sls`, "base:\n  '*': [data]\n");
Deno.writeTextFileSync(
  `${directory}/pillar/data.sls`,
  "motto: s3cret\nschedule:\n  pings: {function: test.ping, minutes: 60, run_on_start: false}\n  bad: {function: test.retcode, args: [3], minutes: 60, run_on_start: false}\nbeacons:\n  load: [{averages: {1m: [0, 99]}}]\n",
);

const master = {
  ...apiMasterOptions(directory, {
    alice: [".*", "@runner", "@wheel"],
    reader: [{ "web*": ["schedule.list", "beacons.list", "pillar.obfuscate"] }],
    ops: ["test.*"],
    web: [{ "web*": ["test.*"] }, { "@runner": ["jobs.list_job"] }],
  }),
  pillar_roots: { base: [`${directory}/pillar`] },
};

fleetTest("what the fleet is set up with is shown to those who may run its function", {
  minions: ["db1", "web1"],
  master,
}, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.root}/srv/web.sls`, "{}\n");
  const [alice, reader, ops] = [await site.logIn("alice"), await site.logIn("reader"), await site.logIn("ops")];
  const get = (token: string, path: string) => site.ask("GET", `/api/v1/${path}`, { token });
  for (const [path, name] of [["schedule", "pings"], ["beacons", "load"], ["pillar", "motto"]]) {
    const { body } = await get(alice, path);
    const minions = body.minions as Record<string, Record<string, unknown>>;
    assertEquals(Object.keys(minions).sort(), ["db1", "web1"], path);
    assert(name in minions.web1, `${path}: ${JSON.stringify(minions.web1)}`);
    assert(!JSON.stringify(body).includes("s3cret"), path);
    assertEquals(Object.keys((await get(reader, `${path}?target=web*`)).body.minions as object), ["web1"], path);
    for (const token of [reader, ops]) assertEquals((await get(token, `${path}?target=db1`)).status, 401, path);
  }
  // Who does not answer is absent.
  await fleet.stopMinion("db1");
  assertEquals(Object.keys((await get(alice, "pillar?target=*")).body.minions as object), ["web1"]);
  assertEquals((await get(alice, "files")).body, { saltenv: "base", files: ["web.sls"] });
  assertEquals((await get(ops, "files")).status, 401);
});

fleetTest("how the jobs of schedules ended last is shown to those who may see jobs", {
  minions: ["db1", "web1"],
  master,
}, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
  const read = async () => (await site.ask("GET", "/api/v1/schedule/outcomes", { token: alice })).body.minions;
  assertEquals(await read(), {});
  assertEquals((await site.ask("GET", "/api/v1/schedule/outcomes", { token: ops })).status, 401);
  const outcomes = async () => {
    const named = Object.entries(await read() as Record<string, Record<string, Record<string, string>>>).map((
      [id, own],
    ) => Object.entries(own).map(([name, { outcome }]) => `${id} ${name} ${outcome}`));
    return named.flat().sort();
  };
  const run = (id: string, name: string) => fleet.salt(id, "schedule.run_job", name);
  const until = async (...expected: string[]) => {
    const words = expected.join(", ");
    await eventually(async () => (await outcomes()).join(", ") === words, { what: `${words}` });
  };
  await run("web1", "pings");
  await until("web1 pings returned");
  await run("web1", "bad");
  await run("db1", "pings");
  await until("db1 pings returned", "web1 bad failed", "web1 pings returned");
  const own = await site.ask("GET", "/api/v1/schedule/outcomes", { token: await site.logIn("web") });
  assertEquals(Object.keys(own.body.minions as object), ["web1"]);
  // A job that was published is none of a schedule.
  await fleet.salt("*", "test.retcode", "1");
  await until("db1 pings returned", "web1 bad failed", "web1 pings returned");
  // An API that begins later reads them from the job cache.
  await using later = await DocumentedSite.start(fleet);
  const token = await later.logIn("alice");
  const { body } = await later.ask("GET", "/api/v1/schedule/outcomes", { token });
  assertEquals(body.minions, await read());
});

fleetTest("the audit log is shown page by page to administrators alone", { master }, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
  await site.post("/login", { username: "alice", password: "wrong", eauth: "file" });
  const get = (token: string, query = "") => site.ask("GET", `/api/v1/audit${query}`, { token });
  assertEquals((await get(ops)).status, 401);
  const { body } = await get(alice);
  const shown = (body.entries as Record<string, unknown>[]).map((
    { n, user, what, outcome },
  ) => [n, user, what, outcome]);
  assertEquals(shown, [[3, "alice", "log in", "refused"], [2, "ops", "log in", "done"], [
    1,
    "alice",
    "log in",
    "done",
  ]]);
  const first = await get(alice, "?limit=2");
  assertEquals([(first.body.entries as unknown[]).length, first.body.next], [2, "2"]);
  const second = await get(alice, `?limit=2&after=${first.body.next}`);
  assertEquals([(second.body.entries as unknown[]).length, second.body.next], [1, null]);
  assertEquals(((await get(alice, "?user=ops")).body.entries as unknown[]).length, 1);
  assertEquals(((await get(alice, "?outcome=refused")).body.entries as unknown[]).length, 1);
  assertEquals((await get(alice, "?outcome=odd")).status, 400);
});
