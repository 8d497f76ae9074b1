/** @module */
import { StoreError, WireError } from "#lib/errors.ts";
import { publishCommand, publishOwn } from "#lib/master/requests/publish.ts";
import { sleep } from "#lib/os/sleep.ts";
import { equals, map, repr, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

async function openSite(opts: Record<string, Value> = {}, ids = ["web1", "web2", "db1"]): Promise<TestServices> {
  const services = await testServices(opts);
  const { pem } = (await testKey("web1")).publicKey;
  for (const id of ids) services.auth.keys.put(id, "accepted", pem);
  return services;
}

/** A publish as the `salt` command sends it, by root. */
function publish(services: TestServices, over: Record<string, unknown> = {}): Promise<Value> {
  const load = {
    cmd: "publish",
    tgt: "*",
    fun: "test.ping",
    arg: [],
    key: services.accessKeys.get("root"),
    tgt_type: "glob",
    ret: "",
    jid: "",
    kwargs: { show_timeout: true, show_jid: false, delimiter: ":" },
    user: "root",
    ...over,
  };
  const present = Object.entries(load).filter(([, field]) => field !== undefined);
  return publishCommand(map(Object.fromEntries(present)), services);
}

function assertValue(actual: Value, expected: unknown): void {
  assert(equals(actual, toValue(expected)), `${repr(actual)} is not ${repr(toValue(expected))}`);
}

function jidOf(reply: Value): string {
  const load = reply instanceof Map ? reply.get("load") : undefined;
  const jid = load instanceof Map ? load.get("jid") : undefined;
  assert(typeof jid === "string", repr(reply));
  return jid;
}

Deno.test("an operator gets the reply to a publish when the job is as durable as `durability` demands; a no_log job is not published earlier", async () => {
  for (const hidden of [false, true]) {
    using services = await openSite();
    const synced = Promise.withResolvers<void>();
    const slow = { ...services, jobs: { ...services.jobs, durable: () => synced.promise } };
    let answered = false;
    const kwargs = hidden ? { no_log: true } : {};
    const answer = publish(slow, { kwargs }).finally(() => answered = true);
    await eventually(() => services.stored.list().length === 1, { what: "the job in the cache" });
    await sleep(20);
    assertEquals([answered, services.published.length], [false, hidden ? 0 : 1]);
    synced.resolve();
    assert(services.stored.exists(jidOf(await answer)));
    assertEquals(services.published.length, 1);
  }
});

Deno.test("a job for a thousand minions is stored and shared before it is published, a smaller one published first", async () => {
  for (const count of [999, 1_000]) {
    using services = await openSite({}, Array.from({ length: count }, (_, i) => `web${i}`));
    const steps: string[] = [];
    const note = (step: string) => () => {
      steps.push(services.stored.list().length === 1 ? `${step}, stored` : step);
      return Promise.resolve();
    };
    const noting = { ...services, jobs: { ...services.jobs, publish: note("publish"), share: note("share") } };
    jidOf(await publish(noting));
    assertEquals(steps, count < 1_000 ? ["publish", "share"] : ["share, stored", "publish, stored"]);
  }
});

Deno.test("a no_log job is refused if a power failure could lose its no_log mark", async () => {
  using services = await openSite();
  const unsure = {
    ...services,
    jobs: { ...services.jobs, durable: () => Promise.reject(new StoreError("the disk is full", "journal")) },
  };
  assertStringIncludes(repr(await publish(unsure, { kwargs: { no_log: true } })), "the disk is full");
  assertEquals(services.published, []);
  // Any other job has been published at that time.
  assert(services.stored.exists(jidOf(await publish(unsure))));
  assertStringIncludes(services.logged.join("\n"), "a power failure would lose it: the disk is full");
});

Deno.test("a job fires its event, is published, and is stored, in Salt's form", async () => {
  using services = await openSite();
  const reply = await publish(services, { tgt: "web*", arg: ["a", 1], fun: "test.arg" });
  const jid = jidOf(reply);
  assertMatch(jid, /^\d{20}$/);
  assertValue(reply, { enc: "clear", load: { jid, minions: ["web1", "web2"], missing: [] } });
  assertEquals(services.fired.map(({ tag }) => tag), [`salt/job/${jid}/new`, `salt/job/${jid}/publish`]);
  assertEquals([...services.fired[0].data.keys()], [
    "jid",
    "tgt_type",
    "tgt",
    "user",
    "fun",
    "arg",
    "minions",
    "missing",
  ]);
  const load = { fun: "test.arg", arg: ["a", 1], tgt: "web*", jid, ret: "", tgt_type: "glob", user: "root" };
  assertEquals(services.published.length, 1);
  assertEquals([...services.published[0].keys()], Object.keys(load));
  assertValue(services.published[0], load);
  const stored = services.stored.getLoad(jid);
  assertEquals(stored?.get("Minions"), ["web1", "web2"]);
  assert(stored?.has("key") === false && stored.get("fun") === "test.arg");
  assert(
    !services.logged.join("\n").includes(services.accessKeys.get("root") ?? "?"),
    "CVE-2021-25284: no credentials in the log",
  );
});

Deno.test("only the supported kwargs are passed on to the minions", async () => {
  using services = await openSite();
  const kwargs = {
    ret_config: "x",
    metadata: { a: 1 },
    module_executors: ["sudo"],
    delimiter: "|",
    to: 5,
    show_jid: true,
    evil: 1,
  };
  await publish(services, { kwargs });
  const keys = [...services.published[0].keys()];
  assertEquals(keys.slice(7), ["to", "ret_config", "metadata", "module_executors", "delimiter"]);
});

Deno.test("lists, unknown ids, and targets without a match", async () => {
  using services = await openSite();
  const listed = await publish(services, { tgt: ["web1", "web9"], tgt_type: "list" });
  assertValue(listed, { enc: "clear", load: { jid: jidOf(listed), minions: ["web1"], missing: ["web9"] } });
  const error = "Master could not resolve minions for target x*";
  assertValue(await publish(services, { tgt: "x*" }), { enc: "clear", load: { jid: null, minions: [], error } });
  const refused = await publish(services, { tgt: "a", tgt_type: "range" });
  assert(refused instanceof Map && refused.get("enc") === "clear", repr(refused));
  assertEquals(services.published.length, 1);
});

Deno.test("a caller's own job id is used, and an invalid one is refused", async () => {
  using services = await openSite();
  const jid = "20260101000000000000";
  assertEquals(jidOf(await publish(services, { jid })), jid);
  for (const bad of ["../../x", "x", "2026", 5, ["x"], "20260101000000000000/../x"]) {
    await assertRejects(() => publish(services, { jid: bad }), WireError);
  }
  assertEquals(services.published.length, 1);
});

Deno.test("a publish with a missing field or a field of a wrong type is refused", async () => {
  using services = await openSite();
  for (const field of ["fun", "tgt", "arg"]) {
    await assertRejects(() => publish(services, { [field]: undefined }), WireError);
    await assertRejects(() => publish(services, { [field]: null }), WireError);
  }
  for (const fun of [5, {}, [5], [["test.ping"]]]) await assertRejects(() => publish(services, { fun }), WireError);
  assertEquals(services.published, []);
});

const AUTHENTICATION = { error: { name: "AuthenticationError", message: "Authentication error occurred." } };
const AUTHORIZATION = { error: { name: "AuthorizationError", message: "Authorization error occurred." } };

Deno.test("invalid credentials are refused in Salt's words, and publish nothing", async () => {
  using services = await openSite();
  const cases: Record<string, unknown>[] = [
    { key: undefined },
    { key: "" },
    { key: "guess" },
    { key: null },
    { key: ["x"] },
    { key: services.accessKeys.get("root")?.slice(1) },
    { user: undefined },
    { user: 5 },
    { kwargs: { token: "x" } },
    { kwargs: { eauth: "pam", username: "root", password: "x" } },
    { kwargs: { eauth: "", token: "" } },
    { key: undefined, eauth: "pam", username: "root", password: "x" },
  ];
  for (const over of cases) assertValue(await publish(services, over), AUTHENTICATION);
  assertEquals([services.published, services.fired], [[], []]);
});

Deno.test("a user with rules cannot publish as a minion", async () => {
  using services = await openSite({ publisher_acl: toValue({ alice: ["test.*"] }) });
  jidOf(await publish(services, { user: "alice", key: services.accessKeys.get("alice"), id: "web1" }));
  jidOf(await publish(services, { id: "web1" }));
  assertEquals(services.published.map((load) => load.get("id")), [undefined, "web1"]);
});

Deno.test("publisher_acl applies, also with order_masters", async () => {
  const acl = toValue({ alice: ["test.*", { "web*": ["cmd.run"] }] });
  for (const order_masters of [false, true]) {
    using services = await openSite({ publisher_acl: acl, order_masters });
    const alice = { user: "alice", key: services.accessKeys.get("alice") };
    jidOf(await publish(services, alice));
    jidOf(await publish(services, { ...alice, fun: "cmd.run", tgt: "web*" }));
    // CVE-2022-22941: a list of minions in the target does not extend the permissions.
    for (
      const over of [{ fun: "cmd.run", tgt: "*" }, { fun: ["test.ping", "grains.items"], arg: [[], []] }, {
        fun: "cmd.run",
        tgt: ["db1", "web1"],
        tgt_type: "list",
      }, { fun: "cmd.run", kwargs: { auth_list: [".*"] } }]
    ) {
      assertValue(await publish(services, { ...alice, ...over }), AUTHORIZATION);
    }
    assertValue(await publish(services, { ...alice, user: "root" }), AUTHENTICATION);
    assertValue(await publish(services, { ...alice, user: "sudo_alice" }), AUTHENTICATION);
    assertEquals(services.published.length, 2);
  }
});

Deno.test("if the cache cannot be written, the job is published without a record", async () => {
  using services = await openSite();
  Deno.writeTextFileSync(`${services.opts.cachedir}/jobs`, "in the way");
  const jid = jidOf(await publish(services));
  assertMatch(jid, /^\d{20}$/);
  assertEquals(services.published.length, 1);
  assertStringIncludes(services.logged.join("\n"), `ERROR: Job ${jid} is published, but is not in the job cache`);
});

Deno.test("a no_log job whose mark cannot be stored is refused, and neither published nor fired", async () => {
  using services = await openSite();
  Deno.writeTextFileSync(`${services.opts.cachedir}/jobs`, "in the way");
  const reply = repr(await publish(services, { kwargs: { no_log: true } }));
  assertStringIncludes(reply, "SaltMasterError");
  assertEquals([services.published, services.fired], [[], []]);
  assertStringIncludes(services.logged.join("\n"), "ERROR: A no_log job is not published: ");
});

Deno.test("without a job cache a job has a directory, for what comes with it, and no load", async () => {
  using services = await openSite({ job_cache: false });
  const jid = jidOf(await publish(services));
  assertEquals([services.stored.exists(jid), services.stored.getLoad(jid)], [true, undefined]);
});

Deno.test("a job of the master's own that no minion matches is not published", async () => {
  using services = await openSite();
  const own = (tgt: string) => publishOwn(map({ tgt, fun: "test.ping", arg: [], ret: "", user: "root" }), services);
  assertEquals([await own("x*"), services.published.length, services.fired.length], [false, 0, 0]);
  assertEquals([await own("web*"), services.published.length], [true, 1]);
});

Deno.test("if the output of a --live job cannot be stored, the job is published, and the output is only shown", async () => {
  using services = await openSite();
  Deno.writeTextFileSync(`${services.opts.cachedir}/jobs`, "in the way");
  const jid = jidOf(await publish(services, { kwargs: { live: true } }));
  assertEquals(services.published.length, 1);
  assertStringIncludes(services.logged.join("\n"), `ERROR: The output of job ${jid} is not stored: `);
});

Deno.test("the log says who published what where, and whose publish was refused; hidden arguments are in neither line", async () => {
  using services = await openSite();
  await publish(services, { tgt: "web*", fun: "state.apply", arg: ["motd", { test: true }] });
  await publish(services, { tgt: "db1", fun: "cmd.run", arg: ["hunter2"], kwargs: { no_log: true } });
  await publish(services, { fun: "cmd.run", arg: ["id"], key: "wrong" });
  await publish(services, { fun: "cmd.run", arg: ["hunter2"], key: "wrong", kwargs: { no_log: true } });
  const proof = { eauth: "file", username: "amy", password: "hunter2" };
  await publish(services, { tgt: "web1", fun: "state.apply", kwargs: proof });
  const log = services.logged.join("\n").replace(/\d{20}/g, "JID");
  assertStringIncludes(
    log,
    "User root published state.apply ['motd', {'test': True}] on 'web*' (glob) with jid JID: 2 minions",
  );
  assertStringIncludes(log, "User root published cmd.run ['**********'] on 'db1' (glob) with jid JID: 1 minion");
  assertStringIncludes(log, "Refused to publish cmd.run ['id'] on '*' (glob) for user root: AuthenticationError");
  assertStringIncludes(log, "Refused to publish cmd.run ['**********'] on '*' (glob) for user root: ");
  assertStringIncludes(log, "Refused to publish state.apply on 'web1' (glob) for user amy: EauthAuthenticationError");
  assert(!log.includes("hunter2"), log);
});

Deno.test("200 jobs published at the same time have 200 job ids", async () => {
  using services = await openSite();
  const replies = await Promise.all(Array.from({ length: 200 }, () => publish(services)));
  assertEquals(new Set(replies.map(jidOf)).size, 200);
});

Deno.test("minions get a node group as its compound target", async () => {
  using services = await openSite({ nodegroups: map({ web: "web* or L@db1", not_db: "N@web and not db1" }) });
  for (
    const [tgt, tgt_type, sent, minions] of [
      ["web", "nodegroup", "( web* or L@db1 )", ["db1", "web1", "web2"]],
      ["N@not_db and not web1", "compound", "( ( web* or L@db1 ) and not db1 ) and not web1", ["web2"]],
    ]
  ) {
    const reply = await publish(services, { tgt, tgt_type });
    const { jid, ...load } = Object.fromEntries((reply as Map<string, Map<string, Value>>).get("load") ?? []);
    assertEquals(load, { minions, missing: [] });
    const published = services.published.at(-1);
    assertEquals([published?.get("tgt"), published?.get("tgt_type"), published?.get("jid")], [sent, "compound", jid]);
    assertEquals(services.fired.filter(({ data }) => data.get("jid") === jid)[0].data.get("tgt"), sent);
  }
  assertValue(await publish(services, { tgt: "nowhere", tgt_type: "nodegroup" }), {
    enc: "clear",
    load: { jid: null, minions: [], error: "Node group nowhere is not in the configuration, which has web, not_db" },
  });
});

Deno.test("a job by grains is for the minions whose cached grains match, with the delimiter", async () => {
  using services = await openSite();
  services.minions.data.setGrains("web1", map({ os: "Debian" }));
  services.minions.data.setGrains("db1", map({ os: "Arch" }));
  const reply = await publish(services, { tgt: "os|Debian", tgt_type: "grain", kwargs: { delimiter: "|" } });
  assertEquals((reply as Map<string, Map<string, Value>>).get("load")?.get("minions"), ["web1"]);
  const [published] = services.published;
  assertEquals([published.get("tgt"), published.get("tgt_type"), published.get("delimiter")], [
    "os|Debian",
    "grain",
    "|",
  ]);
  assertStringIncludes(
    services.logged.join("\n"),
    "The target os|Debian needs data of minions of which the master has none: web2",
  );
});

Deno.test("a limited user's job by grains is sent by name to the minions that the permissions were checked for", async () => {
  using services = await openSite({ publisher_acl: toValue({ alice: [{ "web*": ["test.*"] }] }) as Value });
  const { data } = services.minions;
  for (const id of ["web1", "web2"]) data.setGrains(id, map({ os: "Debian" }));
  const alice = { user: "alice", key: services.accessKeys.get("alice"), tgt: "os:Debian", tgt_type: "grain" };
  // The grains of db1 are not cached: the target might match on the minion itself.
  jidOf(await publish(services, alice));
  jidOf(await publish(services, { ...alice, tgt: "G@os:Debian and not web1", tgt_type: "compound" }));
  const sent = () => services.published.map((load) => [load.get("tgt_type"), load.get("tgt")]);
  assertEquals(sent(), [["list", ["web1", "web2"]], ["list", ["web2"]]]);
  data.setGrains("db1", map({ os: "Debian" }));
  assertValue(await publish(services, alice), AUTHORIZATION);
  jidOf(await publish(services, { tgt: "os:Debian", tgt_type: "grain" }));
  assertEquals(sent().at(-1), ["grain", "os:Debian"]);
});
