/**
 * What a master takes of syndics.
 * @module
 */

import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { publishCommand } from "#lib/master/requests/publish.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

const JID = "20260101000000000001";

async function openSite(opts: Record<string, Value> = {}): Promise<TestServices> {
  const services = await testServices({ order_masters: true, ...opts });
  const { pem } = (await testKey("web1")).publicKey;
  for (const id of ["s1", "own"]) services.auth.keys.put(id, "accepted", pem);
  services.auth.keys.put("rejected", "rejected", pem);
  return services;
}

/** Sends a return of each of these minions. */
async function giveBack(services: TestServices, minions: readonly string[], id = "s1"): Promise<string[]> {
  const returned = map({ return: true, retcode: 0, success: true, fun_args: [], sig: "x", id: "own", jid: "1" });
  const job = map({ id, jid: JID, fun: "test.ping", load: {}, return: new Map(minions.map((one) => [one, returned])) });
  await minionCommand(map({ cmd: "_syndic_return", id, load: [job] }), id, services);
  return services.fired.map(({ tag }) => tag);
}

Deno.test("a syndic returns for minions below it, never for an id with a key here, nor for what is no id", async () => {
  using services = await openSite();
  const tags = await giveBack(services, ["below", "own", "rejected", "../x", "s1"]);
  assertEquals(tags, [`salt/job/${JID}/ret/below`]);
  assertEquals(services.fired[0].data.get("id"), "below");
  assertEquals([...services.stored.getReturns(JID).keys()], ["below"]);
});

Deno.test("without order_masters, and for an id that syndics does not name, nothing is taken", async () => {
  for (const opts of [{ order_masters: false }, { syndics: ["other"] }] as Record<string, Value>[]) {
    using services = await openSite(opts);
    assertEquals(await giveBack(services, ["below"]), []);
  }
  using services = await openSite({ syndics: ["s1"] });
  assertEquals(await giveBack(services, ["below"]), [`salt/job/${JID}/ret/below`]);
});

Deno.test("events from below come under the syndic's tag, and under their own if the minion below could fire it", async () => {
  using services = await openSite();
  const event = (tag: string, data: Record<string, unknown>) => map({ tag, data });
  const events = [
    event(`salt/job/${JID}/new`, { jid: JID, minions: ["below", "../x"] }),
    event("salt/beacon/below/load/", { id: "below" }),
    event("salt/beacon/own/load/", { id: "own" }),
    event("my/tag", { a: 1 }),
    event("a\nb", {}),
    event(`long/${"x".repeat(10_000)}`, {}),
  ];
  await minionCommand(map({ cmd: "_minion_event", id: "s1", pretag: "syndic/s1", events }), "s1", services);
  assertEquals(services.fired.map(({ tag }) => tag), [
    `syndic/s1/salt/job/${JID}/new`,
    "syndic/s1/salt/beacon/below/load/",
    "salt/beacon/below/load/",
    "syndic/s1/salt/beacon/own/load/",
    "syndic/s1/my/tag",
    "my/tag",
  ]);
  services.stored.saveLoad(JID, map({ fun: "test.ping" }));
  assertEquals(services.stored.getLoad(JID)?.get("Minions"), ["below"]);
});

Deno.test("an operator's job that nobody here matches is published for syndics, that of a user with rules is not", async () => {
  using services = await openSite({ publisher_acl: map({ alice: ["test.*"] }) });
  const publish = (user: string, tgt: string) =>
    publishCommand(
      map({
        tgt,
        fun: "test.ping",
        arg: [],
        tgt_type: "glob",
        ret: "",
        key: services.accessKeys.get(user),
        user,
        kwargs: {},
      }),
      services,
    );
  await publish("root", "below");
  assertEquals(services.published.map((load) => [load.get("tgt"), load.get("auth_list")]), [["below", []]]);
  await publish("alice", "below");
  assertEquals(services.published.length, 1);
  await publish("alice", "own");
  assertEquals(services.published[1].get("tgt"), ["own"]);
  assertEquals(services.published[1].get("auth_list"), [map({ "^$": [] })]);
});

Deno.test("nobody waits for a syndic that has returned for others", async () => {
  using services = await openSite();
  const key = services.accessKeys.get("root");
  const load = map({ tgt: "*", fun: "test.ping", arg: [], tgt_type: "glob", ret: "", key, user: "root", kwargs: {} });
  const minions = async () => {
    await publishCommand(load, services);
    return services.stored.getLoad(String(services.published.at(-1)?.get("jid")))?.get("Minions");
  };
  assertEquals(await minions(), ["own", "s1"]);
  await giveBack(services, ["below"]);
  assertEquals(await minions(), ["own"]);
});
