/** @module */
import { isDone } from "#lib/protocol/acknowledgement.ts";
import { jidDirectory, makeJid } from "#lib/protocol/jid.ts";
import { batchToMap } from "#lib/protocol/live_batch.ts";
import { jobOutput } from "#lib/protocol/tags.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { KeyError, WireError } from "#lib/errors.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import type { KeyBank } from "#lib/keys/key_bank.ts";
import { packStatements, stateNextKey } from "#lib/keys/key_statement.ts";
import { ROTATE_KEY_COMMAND } from "#lib/protocol/next_key.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { minionAnswer, type TestServices, testServices } from "#tests/support/fleet/services.ts";

/** The answer of a Salt 3008.3 master with default options to `_master_opts`. */
const SALTS_MASTER_OPTS =
  "{'file_roots': {'base': []}, 'top_file_merging_strategy': 'merge', 'env_order': [], 'default_top': 'base', 'renderer': 'jinja|yaml', 'failhard': False, 'state_top': 'top.sls', 'state_top_saltenv': None, 'nodegroups': {}, 'state_auto_order': True, 'state_events': False, 'state_aggregate': False, 'jinja_env': {}, 'jinja_sls_env': {}, 'jinja_lstrip_blocks': False, 'jinja_trim_blocks': False}";

const tags = (services: TestServices) => services.fired.map(({ tag }) => tag);

Deno.test("a failed command gets Salt's answer, or one that does not acknowledge, if the minion would drop its data", async () => {
  using services = await testServices();
  const broken = () => {
    throw new Error("Too many open files");
  };
  const failing: TestServices = {
    ...services,
    fire: () => Promise.reject(new Error("no bus")),
    jobs: {
      ...services.jobs,
      store: Object.assign(Object.create(services.jobs.store), { noLog: { save: broken, reader: broken } }),
    },
    auth: { ...services.auth, keys: Object.assign(Object.create(services.auth.keys), { remove: broken }) },
  };
  const refusal = map({ error: "Some exception handling minion payload" });
  const result = { fun: "test.ping", fun_args: [], return: true, retcode: 0, success: true };
  assertEquals(await minionAnswer(failing, { cmd: "_return", jid: makeJid(), ...result }), refusal);
  assertEquals(await minionAnswer(failing, { cmd: "_minion_event", tag: "my/tag", data: "" }), refusal);
  assertEquals(await minionAnswer(failing, { cmd: "revoke_auth" }), "");
  assertEquals(services.logged.filter((line) => line.startsWith("ERROR: The command")).length, 3);
  for (const cmd of ["_return", "_minion_event"]) assertEquals(isDone(cmd, refusal), false);
  assertEquals([isDone("_return", null), isDone("_return", ""), isDone("_return", false)], [true, true, false]);
  assertEquals([isDone("_minion_event", null), isDone("_minion_event", "")], [true, false]);
});

Deno.test("a single event is fired with the whole load, each event of a list with its own data", async () => {
  using services = await testServices();
  assertEquals(await minionAnswer(services, { cmd: "_minion_event", tag: "my/tag", data: "text", pretag: null }), null);
  assertEquals(
    services.fired[0].data,
    map({ id: "web1", cmd: "_minion_event", tag: "my/tag", data: "text", pretag: null }),
  );
  const events = [{ tag: "a", data: { x: 1 } }, { tag: "b", data: 5 }, { tag: "c" }, { data: {} }, "rubbish", {
    tag: 5,
  }];
  await minionAnswer(services, { cmd: "_minion_event", events, pretag: "pre" });
  assertEquals(tags(services).slice(1), ["a", "pre/a", "b", "pre/b", "c", "pre/c"]);
  assertEquals(services.fired[1].data, map({ x: 1 }));
  assertEquals(services.fired[3].data, map({ data: 5 }));
  assertEquals(await minionAnswer(services, { cmd: "_minion_event" }), null);
  assertEquals(await minionAnswer(services, { cmd: "_minion_event", tag: 5 }), null);
});

Deno.test("the error of a beacon is in the data of its event, which is empty in Salt", async () => {
  using services = await testServices();
  const tag = "salt/beacon/web1/log/";
  await minionAnswer(services, {
    cmd: "_minion_event",
    events: [
      { tag, data: {}, error: "no such file", beacon_name: "log" },
      { tag: "salt/beacon/web2/log/", data: {}, error: "of another minion" },
    ],
  });
  assertEquals(tags(services), [tag]);
  assertEquals(services.fired[0].data, map({ error: "no such file" }));
});

Deno.test("grains in an event are cached", async () => {
  using services = await testServices();
  await minionAnswer(services, { cmd: "_minion_event", tag: "a", data: "", grains: { os: "Linux" } });
  assertEquals(services.minions.data.get("web1")?.grains ?? null, map({ os: "Linux" }));
});

Deno.test("output of a job that nobody watches is neither stored nor fired", async () => {
  using services = await testServices();
  const jid = services.stored.prepare();
  services.stored.saveLoad(jid, map({ jid, fun: "cmd.run", tgt: "web1" }), ["web1"]);
  const data = batchToMap({ seq: 1, parts: [{ command: 1, stream: "stdout", text: "line\n" }] });
  await minionAnswer(services, { cmd: "_minion_event", tag: jobOutput(jid, "web1"), data });
  assertEquals([services.stored.outputs.ids(jid), tags(services)], [[], []]);
  assertStringIncludes(services.logged.join("\n"), `INFO: Output of web1 for job ${jid} is dropped: `);
});

Deno.test("what events bring and cannot be stored is logged, and the events are fired all the same", async () => {
  using services = await testServices();
  const { stored: store, opts: { cachedir } } = services;
  const jid = store.prepare();
  store.saveLoad(jid, map({ jid, fun: "cmd.run", tgt: "web1" }), ["web1"]);
  const job = `${cachedir}/jobs/${jidDirectory(jid, "sha256")}`;
  for (const path of [`${job}/.acks`, `${job}/.live`, `${cachedir}/grains`]) Deno.writeTextFileSync(path, "in the way");
  const data = batchToMap({ seq: 1, parts: [{ command: 1, stream: "stdout", text: "line\n" }] });
  const events: Record<string, unknown>[] = [
    { tag: `salt/job/${jid}/ack/web1`, data: { state: "running" } },
    { tag: jobOutput(jid, "web1"), data },
    { tag: "my/tag", data: "", grains: { os: "Linux" } },
  ];
  for (const event of events) assertEquals(await minionAnswer(services, { cmd: "_minion_event", ...event }), null);
  assertEquals(tags(services), events.map(({ tag }) => tag));
  const errors = services.logged.filter((line) => line.startsWith("ERROR")).map((line) => line.split(":")[1]);
  assertEquals(errors, [
    ` The acknowledgement of web1 for job ${jid} is not in the job cache`,
    ` Output of web1 for job ${jid} is not in the job cache`,
    " The grains of web1 are not in the data cache",
  ]);
});

Deno.test("_rotate_key agrees to a key that the accepted one has signed, and to no other", async () => {
  using services = await testServices();
  const [old, next, small] = await Promise.all([testKey("web1"), testKey("next"), testKey("small", 1024)]);
  const stated = (key: PrivateKey, of: PrivateKey, minion = "web1") =>
    packStatements([stateNextKey({ minion }, of, { next: key.publicKey.pem, notBeforeMs: 0, notAfterMs: 0 })]);
  const ask = (next_minion: Value) => minionAnswer(services, { cmd: ROTATE_KEY_COMMAND, next_minion });
  assertEquals(await ask(stated(next, old)), false); // without an accepted key
  services.auth.keys.put("web1", "accepted", old.publicKey.pem);
  const refused: Readonly<Record<string, Value>> = {
    "a stranger's": stated(next, next),
    "another minion's": stated(next, old, "db1"),
    "a key that is too small": stated(small, old),
    "no statement": [],
    "a text": "text",
  };
  for (const [what, statements] of Object.entries(refused)) assertEquals(await ask(statements), false, what);
  const lines = services.logged.filter((line) => line.startsWith("WARNING: Minion web1 asked for another key"));
  assertEquals(lines.length, Object.keys(refused).length + 1);
  assertEquals(services.auth.keys.get("web1", "accepted"), old.publicKey.pem);
  assertEquals(await ask(stated(next, old)), true);
});

Deno.test("revoke_auth deletes the minion's own key, session and data, and requests a new shared key", async () => {
  using services = await testServices();
  const pem = (await testKey("web1")).publicKey.pem;
  for (const id of ["web1", "db1"]) services.auth.keys.put(id, "accepted", pem);
  services.auth.sessions.forSignIn("web1");
  services.minions.data.setGrains("web1", new Map());
  assertEquals(await minionAnswer(services, { cmd: "revoke_auth" }), true);
  assertEquals(services.auth.keys.list("accepted"), ["db1"]);
  assertEquals([services.auth.sessions.crypticles("web1"), services.minions.data.get("web1")], [[], undefined]);
  assertEquals(Deno.readTextFileSync(`${services.opts.cachedir}/.dfn`), "test_master");
  assertEquals((Deno.statSync(`${services.opts.cachedir}/.dfn`).mode ?? 0) & 0o777, 0o400);
  assertEquals(services.fired.map(({ tag, data }) => [tag, data.get("act"), data.get("id")]), [[
    "salt/key",
    "delete",
    "web1",
  ]]);
});

Deno.test("allow_minion_key_revoke: false keeps the key", async () => {
  using services = await testServices({ allow_minion_key_revoke: false });
  services.auth.keys.put("web1", "accepted", (await testKey("web1")).publicKey.pem);
  assertEquals(await minionAnswer(services, { cmd: "revoke_auth" }), false);
  assertEquals(services.auth.keys.list("accepted"), ["web1"]);
});

Deno.test("a key that cannot be deleted at its minion's request is logged, and stays with its session", async () => {
  using services = await testServices();
  services.auth.keys.put("web1", "accepted", (await testKey("web1")).publicKey.pem);
  services.auth.sessions.forSignIn("web1");
  const keyBank: KeyBank = {
    ...services.auth.keyBank,
    change: () => Promise.reject(new KeyError("the database is away")),
  };
  const away = { ...services, auth: { ...services.auth, keyBank } };
  assertEquals((await minionCommand(map({ id: "web1", cmd: "revoke_auth" }), "web1", away)).value, false);
  assertEquals(services.auth.sessions.crypticles("web1").length, 1);
  assertEquals(services.fired, []);
  assertStringIncludes(
    services.logged.join("\n"),
    "ERROR: The key of web1 was not deleted at its own request: the database is away",
  );
});

Deno.test("a command of a feature that is not built is answered as by a master without that feature, and lost data are logged", async () => {
  using services = await testServices();
  // A minion of Salt 3008 without resources sends this at each start, so nothing is logged.
  assertEquals(
    await minionAnswer(services, { cmd: "_register_resources", resources: {}, resource_grains: {} }),
    new Map(),
  );
  assertEquals(services.logged, []);
  const resources = { ssh: ["web2"] };
  assertEquals(await minionAnswer(services, { cmd: "_register_resources", resources, resource_grains: {} }), new Map());
  assertEquals(services.logged, [
    "WARNING: The data that minion web1 sent by _register_resources is dropped (not built yet: resources)",
  ]);
});

Deno.test("the other commands of a minion's start get Salt's answers", async () => {
  using services = await testServices();
  assertEquals(await minionAnswer(services, { cmd: "_master_tops", opts: {} }), new Map());
  assertEquals(await minionAnswer(services, { cmd: "_file_envs" }), ["base"]);
  const env = await minionAnswer(services, { cmd: "_master_opts", env_only: true });
  assert(env instanceof Map);
  assertEquals([...env.keys()], ["file_roots", "top_file_merging_strategy", "env_order", "default_top"]);
  const all = await minionAnswer(services, { cmd: "_master_opts" });
  assertEquals(repr(all), SALTS_MASTER_OPTS);
  await assertRejects(() => minionAnswer(services, {}), WireError);
});
