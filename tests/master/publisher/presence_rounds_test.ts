/** @module */
import { connectedAddresses } from "#lib/fleet/connected_ids.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { writePresence } from "#lib/fleet/presence_file.ts";
import { PresenceRounds } from "#lib/master/publisher/presence_rounds.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";
import { testServices } from "#tests/support/fleet/services.ts";

Deno.test("with presence_events the connected minions are named each loop_interval, and one that stops is lost at once", async () => {
  await using fleet = await startFleet({
    minions: ["m1", "m2"],
    master: { presence_events: true, loop_interval: 0.5 },
  });
  using events = await fleet.listen("salt/presence/");
  const isPresent = (ids: string) =>
    eventually(async () => {
      const event = await events.next(5_000, (tag) => tag === "salt/presence/present");
      return String(event?.data.get("present")) === ids && event?.data.has("_stamp") === true;
    }, { what: `${ids} to be present` });
  await isPresent("m1,m2");
  await fleet.stopMinion("m2");
  const change = await events.next(20_000, (tag) => tag === "salt/presence/change");
  assertEquals([change?.data.get("new"), change?.data.get("lost")], [[], ["m2"]]);
  await isPresent("m1");
});

Deno.test("without presence_events nobody is named", async () => {
  await using fleet = await startFleet({ minions: ["m1"], master: { loop_interval: 0.2 } });
  using events = await fleet.listen("salt/presence/present");
  assertEquals(await events.next(1_500), undefined);
});

Deno.test("a minion that only its address shows is new once, and lost when the connection is gone", async () => {
  using services = await testServices({});
  const { opts } = services;
  const data = new DataCache(opts.cachedir, { log: () => {} });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const accepted = await listener.accept();
  for (const id of ["ours", "python"]) services.auth.keys.put(id, "accepted", "key");
  data.setGrains("python", map({ id: "python", ipv4: ["127.0.0.1"] }));
  assert(connectedAddresses(data, port).has("python"));
  writePresence(opts.cachedir, { present: new Map([["ours", 1]]), gone: new Map() });
  const fired: string[] = [];
  const rounds = new PresenceRounds({
    opts,
    publishPort: port,
    data,
    fire: (tag, event) =>
      Promise.resolve(void fired.push(`${tag} ${[...event].map(([key, ids]) => `${key}=${ids}`).join(" ")}`)),
  });
  await rounds.round();
  await rounds.round();
  connection.close();
  accepted.close();
  listener.close();
  await eventually(() => !connectedAddresses(data, port).has("python"), { what: "the end of the connection" });
  await rounds.round();
  assertEquals(fired, [
    "salt/presence/change new=python lost=",
    "salt/presence/present present=ours,python",
    "salt/presence/present present=ours,python",
    "salt/presence/change new= lost=python",
    "salt/presence/present present=ours",
  ]);
});
