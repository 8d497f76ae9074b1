/** Plans by the API: what was planned is applied, and nothing else. */

import { apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertNotEquals } from "#tests/support/assert.ts";
import { DocumentedSite } from "#tests/support/fleet/documented_site.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { Plans } from "#lib/api/endpoints/plans.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_plans_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, {
  alice: ["state.*"],
  bob: ["state.*"],
  planner: ["state.plan"],
  ops: ["test.*"],
});

fleetTest("a plan is applied as it was made; a minion that has changed meanwhile is skipped and named", {
  minions: ["db1", "web1"],
  master,
}, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
  const state = `motd:\n  file.managed:\n    - name: ${fleet.root}/{{ grains.id }}/motd\n    - contents: hello\n`;
  Deno.writeTextFileSync(`${fleet.root}/srv/web.sls`, state);
  const [alice, bob] = [await site.logIn("alice"), await site.logIn("bob")];
  const [planner, ops] = [await site.logIn("planner"), await site.logIn("ops")];
  const make = (token: string, body: Record<string, unknown> = {}) =>
    site.ask("POST", "/api/v1/plans", { token, body: { tgt: "*", mods: ["web"], ...body } });
  const apply = (token: string, hash: unknown, body: Record<string, unknown> = {}) =>
    site.ask("POST", `/api/v1/plans/${hash}/apply`, { token, body });

  assertEquals((await make(ops)).status, 401);
  assertEquals((await make(alice, { tgt: "nobody" })).status, 404);
  assertEquals((await make(alice, { mods: "web" })).status, 400);
  const made = await make(alice);
  assertEquals([made.status, Object.keys(made.body.minions as object)], [201, ["db1", "web1"]]);
  const { hash } = made.body;
  assertEquals((await site.ask("GET", `/api/v1/plans/${hash}`, { token: alice })).body.hash, hash);
  // It is alice's.
  for (const token of [bob, planner]) {
    assertEquals((await site.ask("GET", `/api/v1/plans/${hash}`, { token })).status, 404);
    assertEquals((await apply(token, hash)).status, 404);
  }
  // Who may plan need not be one who may apply.
  assertEquals((await apply(planner, (await make(planner)).body.hash)).status, 401);
  assertEquals((await apply(alice, hash, { minions: ["other"] })).status, 400);

  Deno.writeTextFileSync(`${fleet.root}/web1/motd`, "by hand\n");
  const { body } = await apply(alice, hash);
  assertEquals([body.applied, body.skipped, body.failed, body.silent], [["db1"], ["web1"], [], []]);
  assertEquals(Deno.readTextFileSync(`${fleet.root}/db1/motd`), "hello\n");
  assertEquals(Deno.readTextFileSync(`${fleet.root}/web1/motd`), "by hand\n");
  const again = await make(alice);
  assertNotEquals(again.body.hash, hash);
  assertEquals((await apply(alice, again.body.hash, { minions: ["web1"] })).body.applied, ["web1"]);
  assertEquals(Deno.readTextFileSync(`${fleet.root}/web1/motd`), "hello\n");
  // Of a minion that is away nobody says that nothing was changed there.
  await fleet.stopMinion("web1");
  const away = (await apply(alice, again.body.hash, { minions: ["web1"] })).body;
  assertEquals([away.silent, away.skipped, away.applied], [["web1"], [], []]);
});

Deno.test("a plan lives for half an hour, and is its maker's alone", () => {
  const plans = new Plans();
  const { hash } = plans.keep(new Map([["web1", "ab"]]), "pam alice", 0);
  assert(plans.get(hash, "pam alice", 30 * 60_000) !== undefined);
  assertEquals(plans.get(hash, "pam alice", 30 * 60_000 + 1), undefined);
  assertEquals(plans.get(hash, "pam bob", 0), undefined);
});
