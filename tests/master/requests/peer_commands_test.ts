/** Jobs and runners of minions, as permitted by `peer` and `peer_run`. */

import { RefusedError } from "#lib/errors.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

async function openSite(): Promise<TestServices> {
  const services = await testServices({ peer: map({ web1: ["test.*"] }), peer_run: map({ web1: ["manage.*"] }) });
  const { pem } = (await testKey("web1")).publicKey;
  for (const id of ["web1", "db1", "db2"]) services.auth.keys.put(id, "accepted", pem);
  return services;
}

async function ask(services: TestServices, load: Readonly<Record<string, unknown>>, id = "web1"): Promise<Value> {
  return (await minionCommand(map({ id, ...load }), id, services)).value;
}

const PING = { tgt: "db*", tgt_type: "glob", fun: "test.ping", arg: [], ret: "" };

/** The return of a minion for the last published job. */
function answer(services: TestServices, id: string, value: Value): void {
  const jid = services.published.at(-1)?.get("jid");
  services.stored.saveReturn(map({ jid, id, fun: "test.ping", return: value, retcode: 0, success: true }));
}

Deno.test("minion_publish answers when all minions have returned, with only the returns or with the job id", async () => {
  using services = await openSite();
  for (const form of ["clean", "full"]) {
    const before = services.published.length;
    const reply = ask(services, { cmd: "minion_publish", ...PING, form, timeout: 50 });
    await eventually(() => services.published.length > before, { what: "the job" });
    for (const id of ["db1", "db2"]) answer(services, id, id);
    const returns = await reply;
    assert(isMap(returns));
    const jid = services.published.at(-1)?.get("jid");
    const full = map({ db1: { ret: "db1" }, db2: { ret: "db2" }, __jid__: jid });
    assertEquals(returns, form === "full" ? full : map({ db1: "db1", db2: "db2" }));
    assertEquals(await ask(services, { cmd: "pub_ret", jid }), map({ db1: { ret: "db1" }, db2: { ret: "db2" } }));
    assertEquals(await ask(services, { cmd: "pub_ret", jid }, "db1"), new Map());
  }
});

Deno.test("minion_publish answers at its time-out with the returns so far; the number of waiting requests in a thread is limited", async () => {
  using services = await openSite();
  const replies = [1, 2, 3, 4, 5].map(() => ask(services, { cmd: "minion_publish", ...PING, tmo: 2 }));
  await eventually(() => services.published.length === 4, { what: "four jobs" });
  answer(services, "db1", true);
  assertStringIncludes(services.logged.join("\n"), "may not publish now: 4 minions wait");
  assertEquals((await Promise.all(replies)).map((returns) => isMap(returns) && returns.size), [0, 0, 0, 1, 0]);
  assertEquals(services.published.length, 4);
  assertEquals(await ask(services, { cmd: "minion_publish", ...PING, tmo: 0 }), new Map());
});

/** Refused publishes, and the reason. */
const REFUSED: readonly (readonly [load: Readonly<Record<string, unknown>>, why: string])[] = [
  [{ ...PING, fun: 5 }, "a publish without a function or a target"],
  [{ ...PING, arg: "x" }, "a publish without a function or a target"],
  [{ ...PING, tgt: undefined }, "a publish without a function or a target"],
  [{ ...PING, fun: "cmd.run", arg: ["id"] }, "peer has no rule for that"],
  [{ ...PING, fun: "publish.publish", arg: ["*", "test.ping"] }, "a job of a minion publishes no jobs"],
  [{ ...PING, tgt: "secret:a*", tgt_type: "pillar" }, "values of pillar must be written out"],
  [{ ...PING, tgt: "I@secret:a*", tgt_type: "compound" }, "values of pillar must be written out"],
];
for (const [load, why] of REFUSED) {
  Deno.test(`a minion may not publish ${JSON.stringify(load)}`, async () => {
    using services = await openSite();
    services.minions.data.setPillar("db1", map({ secret: "abc" }));
    const given = Object.fromEntries(Object.entries(load).filter(([, field]) => field !== undefined));
    for (const cmd of ["minion_pub", "minion_publish"]) assertEquals(await ask(services, { cmd, ...given }), new Map());
    assertStringIncludes(services.logged.join("\n"), why);
    assertEquals(services.published.length, 0);
  });
}

Deno.test("a minion may publish by pillar if the target has no pattern", async () => {
  using services = await openSite();
  services.minions.data.setPillar("db1", map({ secret: "abc" }));
  const answered = await ask(services, { cmd: "minion_pub", ...PING, tgt: "secret:abc", tgt_type: "pillar" });
  assertEquals(isMap(answered) ? answered.get("minions") : undefined, ["db1"]);
});

Deno.test("returns that are too large for a minion's answer are left out", async () => {
  using services = await openSite();
  await ask(services, { cmd: "minion_pub", ...PING });
  answer(services, "db1", "x".repeat(10 << 20));
  answer(services, "db2", "x".repeat(10 << 20));
  const jid = services.published.at(-1)?.get("jid");
  const returns = await ask(services, { cmd: "pub_ret", jid });
  assertEquals(isMap(returns) && [...returns.keys()], ["db1"]);
  assertStringIncludes(services.logged.join("\n"), "are too large for the minion that published it");
});

Deno.test("a minion's runner returns its result, unless it is too large, is refused, or peer_run has no rule", async () => {
  using services = await openSite();
  const run = (fun: Value, more: Partial<TestServices["functions"]> = {}) =>
    ask({ ...services, functions: { ...services.functions, ...more } }, { cmd: "minion_runner", fun, arg: [] });
  assertEquals(await run("manage.up"), "done");
  assertEquals(await run("jobs.active"), new Map());
  const large = { return: "x".repeat(17 << 20), success: true };
  assertEquals(await run("manage.up", { call: () => Promise.resolve(large) }), new Map());
  const refused = new RefusedError("SaltMasterError", "too many wait");
  assertEquals(await run("manage.up", { call: () => Promise.reject(refused) }), new Map());
  for (
    const why of ["peer_run has no rule for that", "is too large for the minion web1", "was not run: too many wait"]
  ) {
    assertStringIncludes(services.logged.join("\n"), why);
  }
});
