/**
 * The module `publish` where the master is not asked, does not answer, or answers late. Source: Salt 3008.3
 * `salt/modules/publish.py`.
 * @module
 */

import { NoMasterError, RequestTimeoutError } from "#lib/errors.ts";
import type { Outside } from "#lib/plugins/job_context.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";

/** A minion whose master answers so. */
function minion(request: Outside["request"]): TestContext {
  return testContext({ opts: testOpts({ master: "salt1" }), outside: { ...testContext().outside, request } });
}

/** A master of two minions, of which the second answers at the second look. */
function slowMaster(requests: ValueMap[]): Outside["request"] {
  return (load) => {
    requests.push(load);
    if (load.get("cmd") === "minion_pub") return Promise.resolve(map({ jid: "1", minions: ["web1", "web2"] }));
    const first = { web1: { ret: true, out: "txt" } };
    const looks = requests.filter((one) => one.get("cmd") === "pub_ret").length;
    return Promise.resolve(map(looks === 1 ? first : { ...first, web2: "odd" }));
  };
}

Deno.test("publish.publish waits for all minions, and full_data shows what they sent", async () => {
  const requests: ValueMap[] = [];
  const result = await resultOrError(minion(slowMaster(requests)), "publish.publish", ["*", "test.ping", "a, b"], {
    via_master: "salt1",
  });
  assertEquals(result, map({ web1: true, web2: null }));
  assertEquals(requests.map((load) => load.get("cmd")), ["minion_pub", "pub_ret", "pub_ret"]);
  const full = await resultOrError(minion(slowMaster([])), "publish.full_data", ["*", "test.ping"]);
  assertEquals(full, map({ web1: { ret: true, out: "txt" }, web2: "odd" }));
});

Deno.test("publish.publish shows what came until its timeout, and nothing of what the master refuses", async () => {
  const late = await resultOrError(minion(slowMaster([])), "publish.publish", ["*", "test.ping"], { timeout: 0 });
  assertEquals(late, map({ web1: true }));
  for (const refusal of ["", new Map<Value, Value>(), map({ jid: null, minions: [] })]) {
    assertEquals(
      await resultOrError(minion(() => Promise.resolve(refusal)), "publish.publish", ["*", "test.ping"]),
      new Map(),
    );
  }
});

Deno.test("publish knows one master, and says which one it was not to ask", async () => {
  const context = minion(() => Promise.reject(new Error("nobody is asked")));
  assertEquals(
    await resultOrError(context, "publish.publish", ["*", "test.ping"], { via_master: "salt2" }),
    "Could not find match for salt2 in list of configured masters [salt1] when using `via_master` option",
  );
  assertEquals(await resultOrError(context, "publish.publish", ["*", "test.ping"]), "nobody is asked");
  assertEquals(await resultOrError(context, "publish.runner", ["manage.up"]), "nobody is asked");
});

Deno.test("publish says that the master does not answer, or that there is none", async () => {
  const silent = minion(() => Promise.reject(new RequestTimeoutError("tcp://salt1:4506", 5000)));
  assertEquals(await resultOrError(silent, "publish.publish", ["*", "test.ping"]), "'test.ping' publish timed out");
  assertEquals(await resultOrError(silent, "publish.runner", ["manage.up"]), "'manage.up' runner publish timed out");
  const alone = minion(() => Promise.reject(new NoMasterError("none")));
  assertEquals(await resultOrError(alone, "publish.publish", ["*", "test.ping"]), new Map());
  assertEquals(alone.logged, [
    "error: Cannot run publish commands without a connection to a salt master. No command sent.",
  ]);
  assertEquals(
    await resultOrError(alone, "publish.runner", ["manage.up"]),
    "No access to master. If using salt-call with --local, please remove.",
  );
  const result = await resultOrError(minion(() => Promise.resolve(map({ up: ["web1"] }))), "publish.runner", [
    "manage.up",
  ]);
  assertEquals(isMap(result) && result.get("up"), ["web1"]);
});

Deno.test("a publish call is not published", async () => {
  const context = minion(() => Promise.reject(new Error("the master is asked")));
  for (const fun of ["publish.publish", "publish.full_data"]) {
    assertEquals(await resultOrError(context, fun, ["*", "publish.publish", ["*", "test.ping"]]), new Map());
  }
  assertEquals(context.logged, Array(2).fill("info: Cannot publish publish calls. Returning {}"));
});
