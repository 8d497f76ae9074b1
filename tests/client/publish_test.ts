/** @module */
import { ThrottledError, UsageError } from "#lib/errors.ts";
import { LocalClient } from "#lib/client/local.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { MasterHost } from "#tests/support/fleet/master_host.ts";

const JID = "20260101000000000001";
const LONG = 30_000;
const JOB = { tgt: "*", tgtType: "glob", fun: "test.ping", arg: [] };

Deno.test("a publish has Salt's fields in Salt's order, and the key of the master's user", async () => {
  await using host = await MasterHost.start();
  Deno.writeTextFileSync(accessKeyPath(host.opts.cachedir, "root"), "first key\n");
  using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
  const kwargs = map({ delimiter: ":" });
  const job = await client.publish({ ...JOB, tgt: ["a"], tgtType: "list", ret: "redis", jid: JID, kwargs });
  assertEquals(job, { jid: "20260101000000001001", minions: ["a"], missing: [] });
  const [load] = host.published;
  assertEquals(
    load,
    map({
      cmd: "publish",
      tgt: ["a"],
      fun: "test.ping",
      arg: [],
      key: "first key",
      tgt_type: "list",
      ret: "redis",
      jid: JID,
      kwargs: { delimiter: ":" },
      user: "root",
    }),
  );
  assertEquals([...load.keys()], ["cmd", "tgt", "fun", "arg", "key", "tgt_type", "ret", "jid", "kwargs", "user"]);
});

Deno.test("after a refused publish, the key is read again and the publish repeated once", async () => {
  await using host = await MasterHost.start();
  const path = accessKeyPath(host.opts.cachedir, "root");
  Deno.writeTextFileSync(path, "old");
  const keys: Value[] = [];
  host.master.script = ({ load }) => {
    keys.push(load.get("key") ?? null);
    Deno.writeTextFileSync(path, "new");
    const refused = { error: { name: "AuthenticationError", message: "Authentication error occurred." } };
    return encode(
      map(keys.length % 2 === 1 ? refused : { enc: "clear", load: { jid: JID, minions: ["a"], missing: [] } }),
      "wire",
    );
  };
  using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
  assertEquals((await client.publish(JOB)).jid, JID);
  assertEquals(keys, ["old", "new"]);
});

Deno.test("a job waits for its turn as long as it may, and one that is too large is not sent", async () => {
  await using host = await MasterHost.start();
  const publish = host.master.script;
  let refusals = 0;
  const throttled = { name: "SaltThrottled", message: "wait", rule: 3, retry_after: 0.04 };
  host.master.script = (request) => ++refusals < 3 ? encode(map({ error: throttled }), "wire") : publish(request);
  using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
  const waits: string[] = [], { signal } = new AbortController();
  const turn = { untilMs: performance.now() + LONG, signal, onWait: (text: string) => void waits.push(text) };
  assertEquals((await client.publish({ ...JOB, tgt: ["a"] }, turn)).minions, ["a"]);
  assertEquals([waits, refusals], [["waits for its turn (rule 3), 0.0 s", "waits for its turn (rule 3), 0.0 s"], 3]);
  refusals = 0;
  await assertRejects(() => client.publish(JOB, { ...turn, untilMs: performance.now() }), ThrottledError, "wait");
  assertEquals([waits.length, refusals], [2, 1]);
  const large = { ...JOB, arg: ["x".repeat(host.opts.max_request_bytes)] };
  await assertRejects(() => client.publish(large), UsageError, `the master takes ${host.opts.max_request_bytes}`);
  assertEquals(refusals, 1);
});
