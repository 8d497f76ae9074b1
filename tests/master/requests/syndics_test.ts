/**
 * What a master takes of syndics.
 * @module
 */

import { isDone } from "#lib/protocol/acknowledgement.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { publishCommand, publishOwn } from "#lib/master/requests/publish.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
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
  using services = await openSite({ peer: map({ own: ["test.ping"] }) });
  const key = services.accessKeys.get("root");
  const load = map({ tgt: "*", fun: "test.ping", arg: [], tgt_type: "glob", ret: "", key, user: "root", kwargs: {} });
  const minions = async () => {
    await publishCommand(load, services);
    return services.stored.getLoad(String(services.published.at(-1)?.get("jid")))?.get("Minions");
  };
  assertEquals(await minions(), ["own", "s1"]);
  await giveBack(services, ["below"]);
  assertEquals(await minions(), ["own"]);
  // Nor does anybody wait for it who is no client: the reactor, and a minion that publishes.
  assertEquals(await publishOwn(map({ tgt: "*", fun: "test.ping", arg: [], ret: "", user: "root" }), services), true);
  assertEquals(services.stored.getLoad(String(services.published.at(-1)?.get("jid")))?.get("Minions"), ["own"]);
  const peer = { cmd: "minion_pub", tgt: "*", fun: "test.ping", arg: [], ret: "" };
  const { value } = await minionCommand(map(peer), "own", services);
  assertEquals(isMap(value) && value.get("minions"), ["own"]);
});

Deno.test("what a syndic sends that is no return is left out, and the rest taken", async () => {
  using services = await openSite();
  const returned = map({ below: { return: 1, retcode: 0 }, other: { retcode: 0 }, third: "text" });
  const job = map({ id: "s1", jid: JID, fun: "test.ping", return: returned });
  const load = ["text", map({ jid: JID }), map({ jid: "../x", return: returned }), job];
  await minionCommand(map({ cmd: "_syndic_return", id: "s1", load }), "s1", services);
  assertEquals(services.fired.map(({ tag }) => tag), [`salt/job/${JID}/ret/below`]);
  assertEquals([...services.stored.getReturns(JID).keys()], ["below"]);
  assertEquals(services.logged.filter((line) => line.includes("returns that cannot be read")).length > 0, true);
});

Deno.test("the load of a job that was started below is stored once, unless jobs are not", async () => {
  const send = async (services: TestServices, fun: string) => {
    const below = map({ fun, tgt: "*", Minions: ["below", 5] });
    const job = map({ id: "s1", jid: JID, fun, load: below, return: { below: { return: 1, retcode: 0 } } });
    await minionCommand(map({ cmd: "_syndic_return", id: "s1", load: [job] }), "s1", services);
    return services.stored.getLoad(JID);
  };
  using services = await openSite();
  const stored = await send(services, "test.ping");
  assertEquals([stored?.get("fun"), stored?.get("Minions")], ["test.ping", ["below"]]);
  assertEquals((await send(services, "cmd.run"))?.get("fun"), "test.ping");
  using without = await openSite({ job_cache: false });
  assertEquals(await send(without, "test.ping"), undefined);
});

Deno.test("a syndic that cannot be remembered returns all the same", async () => {
  using services = await openSite();
  Deno.writeTextFileSync(`${services.opts.cachedir}/syndics`, "in the place of the directory");
  assertEquals(await giveBack(services, ["below"]), [`salt/job/${JID}/ret/below`]);
  assertEquals(services.logged.filter((line) => line.startsWith("ERROR: The syndic s1 is not remembered")).length, 1);
});

Deno.test("a syndic that sends more than 100,000 returns at once is told of in the log, and the rest is dropped", async () => {
  using services = await openSite();
  const returned = map({ return: true, retcode: 0 });
  // What is no id costs the master no file.
  const some = Array.from({ length: 99_999 }, (_, i): [Value, Value] => [i, returned]);
  const job = map({ jid: JID, fun: "test.ping" }).set("return", new Map([...some, ["last", returned], ["over", 1]]));
  const warnings: string[] = [];
  const warn = (text: string) => void warnings.push(text);
  await minionCommand(map({ cmd: "_syndic_return", id: "s1", load: [job] }), "s1", { ...services, warn });
  assertEquals(services.fired.map(({ tag }) => tag), [`salt/job/${JID}/ret/last`]);
  assertEquals(warnings.length, 100_000);
  assertEquals(warnings.at(-1), "Syndic s1 sent more than 100000 returns at once; the others are dropped");
});

Deno.test("what a syndic says of jobs that the job cache cannot take is logged, and fired all the same", async () => {
  using services = await openSite();
  Deno.writeTextFileSync(`${services.opts.cachedir}/jobs`, "in the place of the directory");
  const load = map({ fun: "test.ping", tgt: "*", Minions: ["below"] });
  const job = map({ jid: JID, fun: "test.ping", load, return: { below: { return: 1, retcode: 0 } } });
  const send = () => minionCommand(map({ cmd: "_syndic_return", id: "s1", load: [job] }), "s1", services);
  const refusal = map({ error: "Not all of the returns are in the job cache" });
  assertEquals((await send()).value, refusal);
  assertEquals(isDone("_syndic_return", refusal), false);
  const events = [map({ tag: `salt/job/${JID}/new`, data: { jid: JID, minions: ["below"] } })];
  await minionCommand(map({ cmd: "_minion_event", id: "s1", pretag: "syndic/s1", events }), "s1", services);
  assertEquals(services.fired.map(({ tag }) => tag), [
    `salt/job/${JID}/ret/below`,
    `syndic/s1/salt/job/${JID}/new`,
  ]);
  const log = services.logged.join("\n");
  for (
    const line of [
      `ERROR: Job ${JID}, which a syndic reports, is not in the job cache: `,
      `ERROR: The return of below for job ${JID} is not in the job cache: `,
      `ERROR: The minions of job ${JID} below s1 are not in the job cache: `,
    ]
  ) assertStringIncludes(log, line);
  // The syndic sends them again, until they are stored.
  Deno.removeSync(`${services.opts.cachedir}/jobs`);
  assertEquals((await send()).value, null);
  assertEquals([...services.stored.getReturns(JID).keys(), services.stored.getLoad(JID)?.get("fun")], [
    "below",
    "test.ping",
  ]);
  const again = (await send()).value;
  assertEquals([again, isDone("_syndic_return", again)], [null, true]);
  // Without a job cache nothing is to be stored.
  using without = await openSite({ job_cache: false });
  await minionCommand(map({ cmd: "_minion_event", id: "s1", pretag: "syndic/s1", events }), "s1", without);
  assertEquals([without.fired.length, without.stored.exists(JID)], [1, false]);
  assertEquals(without.logged.filter((line) => line.startsWith("ERROR")), []);
});
