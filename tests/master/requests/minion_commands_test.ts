/** @module */
import { isDone } from "#lib/protocol/acknowledgement.ts";
import { jidDirectory, makeJid } from "#lib/protocol/jid.ts";
import { batchToMap } from "#lib/protocol/live_batch.ts";
import { jobOutput } from "#lib/protocol/tags.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { encode } from "#lib/values/msgpack.ts";
import { equals, map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { KeyError, StoreError, WireError } from "#lib/errors.ts";
import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { driftDays, driftDirectory } from "#lib/jobs/drift_log.ts";
import type { KeyBank } from "#lib/keys/key_bank.ts";
import { packStatements, stateNextKey } from "#lib/keys/key_statement.ts";
import { ROTATE_KEY_COMMAND } from "#lib/protocol/next_key.ts";
import { eventually } from "#tests/support/eventually.ts";
import { decode } from "#lib/values/msgpack.ts";
import { sleep } from "#lib/os/sleep.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

async function run(services: TestServices, load: Record<string, unknown>, id = "web1"): Promise<Value> {
  const { value, sealed } = await minionCommand(map({ id, ...load }), id, services);
  return sealed === undefined ? value : decode(sealed, "wire");
}

function assertValue(actual: Value, expected: Value): void {
  assert(equals(actual, expected), `${repr(actual)} is not ${repr(expected)}`);
}

/** The answer of a Salt 3008.3 master with default options to `_master_opts`. */
const SALTS_MASTER_OPTS =
  "{'file_roots': {'base': []}, 'top_file_merging_strategy': 'merge', 'env_order': [], 'default_top': 'base', 'renderer': 'jinja|yaml', 'failhard': False, 'state_top': 'top.sls', 'state_top_saltenv': None, 'nodegroups': {}, 'state_auto_order': True, 'state_events': False, 'state_aggregate': False, 'jinja_env': {}, 'jinja_sls_env': {}, 'jinja_lstrip_blocks': False, 'jinja_trim_blocks': False}";

const tags = (services: TestServices) => services.fired.map(({ tag }) => tag);

function returned(jid: string, over: Record<string, unknown> = {}): Record<string, unknown> {
  return { cmd: "_return", jid, fun: "test.ping", fun_args: [], return: true, retcode: 0, success: true, ...over };
}

Deno.test("a return is stored, fired as an event, and acknowledged with None", async () => {
  using services = await testServices();
  const jid = services.stored.prepare();
  services.stored.saveLoad(jid, map({ jid, fun: "test.ping", tgt: "*" }), ["web1"]);
  assertEquals(await run(services, returned(jid)), null);
  assertEquals(services.stored.getReturn(jid, "web1"), { return: true, retcode: 0, success: true });
  assertEquals(tags(services), [`salt/job/${jid}/ret/web1`]);
  assertEquals(services.fired[0].data.get("cmd"), "_return");
});

Deno.test("a return that cannot be synced fires its event once, and is not acknowledged", async () => {
  using services = await testServices();
  const unsure = {
    ...services,
    jobs: { ...services.jobs, durable: () => Promise.reject(new StoreError("the disk is full", "journal")) },
  };
  const jid = services.stored.prepare();
  for (let i = 0; i < 2; i++) {
    const { value } = await minionCommand(map({ id: "web1", ...returned(jid) }), "web1", unsure);
    assertEquals(isDone("_return", value), false);
  }
  assertEquals(tags(services), [`salt/job/${jid}/ret/web1`]);
  assert(isDone("_return", await run(services, returned(jid))));
});

Deno.test("a return is fired and acknowledged only when it is as durable as durability demands", async () => {
  using services = await testServices();
  const synced = Promise.withResolvers<void>();
  const slow = { ...services, jobs: { ...services.jobs, durable: () => synced.promise } };
  const jid = services.stored.prepare();
  let answered = false;
  const answer = minionCommand(map({ id: "web1", ...returned(jid) }), "web1", slow).finally(() => answered = true);
  await eventually(() => services.stored.has(jid, "web1"), { what: "the return in the cache" });
  await sleep(20);
  assertEquals([answered, tags(services)], [false, []]);
  synced.resolve();
  assertEquals((await answer).value, null);
  assertEquals(tags(services), [`salt/job/${jid}/ret/web1`]);
});

Deno.test("a repeated return is acknowledged and fired, and does not change the cache", async () => {
  using services = await testServices();
  const jid = services.stored.prepare();
  assertEquals(await run(services, returned(jid)), null);
  assertEquals(await run(services, returned(jid, { return: "forged" })), "");
  assertEquals(services.stored.getReturn(jid, "web1")?.return, true);
  assertEquals(tags(services).length, 2);
});

Deno.test("a return for an invalid job id is acknowledged, and neither stored nor fired", async () => {
  using services = await testServices();
  for (const jid of ["", "x", "../../etc", "2026", 5, null, ["x"], "20260101000000000000/../x", undefined]) {
    assertEquals(await run(services, returned("", { jid })), null);
  }
  assertEquals(services.fired, []);
  assertEquals(services.stored.list(), []);
  for (const line of services.logged) assert(line.length < 400, line);
});

Deno.test("a return of salt-call gets a job id from the master", async () => {
  using services = await testServices();
  assertEquals(await run(services, returned("req", { fun_args: ["a"] })), null);
  const [{ jid, load }] = services.stored.list();
  assertEquals([load.get("tgt"), load.get("tgt_type"), load.get("arg")], ["web1", "glob", ["a"]]);
  assertEquals(tags(services), [`salt/job/${jid}/ret/web1`]);
});

Deno.test("without a cache, a return still fires its event", async () => {
  using services = await testServices({ job_cache: false });
  const jid = makeJid();
  assertEquals(await run(services, returned(jid)), null);
  assertEquals(await run(services, returned("req")), null);
  assertEquals(services.stored.list(), []);
  assertEquals(tags(services)[0], `salt/job/${jid}/ret/web1`);
  assert(/^salt\/job\/\d{20}\/ret\/web1$/.test(tags(services)[1]), tags(services)[1]);
});

Deno.test("a return that cannot be stored fires its event once, and is acknowledged when it has been stored", async () => {
  using services = await testServices();
  Deno.writeTextFileSync(`${services.opts.cachedir}/jobs`, "in the way");
  Deno.writeTextFileSync(`${services.opts.cachedir}/grains`, "in the way");
  const jid = makeJid();
  const refusal = map({ error: "The return is not in the job cache" });
  assertValue(await run(services, returned(jid)), refusal);
  assertValue(await run(services, returned("req")), refusal);
  assertEquals(tags(services)[0], `salt/job/${jid}/ret/web1`);
  assert(/^salt\/job\/\d{20}\/ret\/web1$/.test(tags(services)[1]), tags(services)[1]);
  assertValue(await run(services, { cmd: "_pillar", grains: { os: "Linux" } }), new Map());
  const errors = services.logged.filter((line) => line.startsWith("ERROR"));
  assertStringIncludes(errors[0], `ERROR: The return of web1 for job ${jid} is not in the job cache`);
  assertStringIncludes(errors[2], "ERROR: The grains of web1 are not in the data cache");
  assertEquals(errors.length, 3);
  const before = tags(services).length;
  assertValue(await run(services, returned(jid)), refusal);
  assertEquals(tags(services).length, before);
  Deno.removeSync(`${services.opts.cachedir}/jobs`);
  assertEquals(await run(services, returned(jid)), null);
  assertEquals(services.stored.getReturn(jid, "web1")?.return, true);
});

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
  assertValue(await run(failing, returned(makeJid())), refusal);
  assertValue(await run(failing, { cmd: "_minion_event", tag: "my/tag", data: "" }), refusal);
  assertEquals(await run(failing, { cmd: "revoke_auth" }), "");
  assertEquals(services.logged.filter((line) => line.startsWith("ERROR: The command")).length, 3);
  for (const cmd of ["_return", "_minion_event"]) assertEquals(isDone(cmd, refusal), false);
  assertEquals([isDone("_return", null), isDone("_return", ""), isDone("_return", false)], [true, true, false]);
  assertEquals([isDone("_minion_event", null), isDone("_minion_event", "")], [true, false]);
});

Deno.test("job_cache_store_endtime stores the time of a job's last return; a repeated return does not change it", async () => {
  for (const job_cache_store_endtime of [true, false]) {
    using services = await testServices({ job_cache_store_endtime });
    const { stored: store } = services;
    const jid = store.prepare();
    assertEquals(store.getEndTime(jid), undefined);
    await run(services, returned(jid));
    const first = store.getEndTime(jid);
    if (!job_cache_store_endtime) {
      assertEquals(first, undefined);
      continue;
    }
    assert(/^\d{4}, [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d\.\d{6}$/.test(first ?? ""), first);
    await run(services, returned(jid));
    assertEquals(store.getEndTime(jid), first);
    await run(services, { ...returned(jid), id: "web2" }, "web2");
    assert(store.getEndTime(jid) !== first);
  }
});

Deno.test("with unique_jid the jids of salt-call's jobs have the master's process id, stored or not", async () => {
  for (const job_cache of [true, false]) {
    using services = await testServices({ unique_jid: true, job_cache });
    await run(services, returned("req"));
    assertStringIncludes(tags(services)[0], `_${Deno.pid}/ret/web1`);
  }
});

Deno.test("if an end time cannot be stored, the return is still stored and reported", async () => {
  using services = await testServices({ job_cache_store_endtime: true });
  const jid = services.stored.prepare();
  const directory = `${services.opts.cachedir}/jobs/${jidDirectory(jid, "sha256")}`;
  Deno.mkdirSync(`${directory}/endtime/in the way`, { recursive: true });
  assertEquals(await run(services, returned(jid)), null);
  assertEquals(services.stored.has(jid, "web1"), true);
  assertStringIncludes(services.logged.join("\n"), `ERROR: The end time of job ${jid} is not in the job cache`);
});

Deno.test("the master logs minion, job and size of a return that was too large", async () => {
  using services = await testServices();
  const jid = makeJid();
  const oversized = { bytes: 200_000_000, limit: 104_857_600 };
  assertEquals(await run(services, returned(jid, { success: false, retcode: 1, oversized })), null);
  assertStringIncludes(
    services.logged.find((line) => line.startsWith("WARNING")) ?? "",
    `The return of web1 for job ${jid} was too large to be sent, and a failure came in its place: 200000000 bytes`,
  );
});

Deno.test("require_minion_sign_messages and drop_messages_signature_fail apply to returns", async () => {
  const key = await testKey("web1");
  const cases: [opts: Record<string, Value>, sig: "good" | "wrong" | "none", kept: boolean][] = [
    [{}, "none", true],
    [{}, "good", true],
    [{}, "wrong", true],
    [{ drop_messages_signature_fail: true }, "none", true],
    [{ drop_messages_signature_fail: true }, "good", true],
    [{ drop_messages_signature_fail: true }, "wrong", false],
    [{ require_minion_sign_messages: true }, "none", false],
    [{ require_minion_sign_messages: true }, "good", true],
    [{ require_minion_sign_messages: true }, "wrong", true],
  ];
  for (const [opts, sig, kept] of cases) {
    using services = await testServices(opts);
    services.auth.keys.put("web1", "accepted", key.publicKey.pem);
    const load = map({ id: "web1", ...returned(makeJid()) });
    const signature = key.sign("PKCS1v15-SHA1", encode(load, "disk"));
    if (sig === "wrong") signature[0] ^= 1;
    if (sig !== "none") load.set("sig", signature);
    assertEquals(
      (await minionCommand(load, "web1", services)).value,
      kept ? null : false,
      `${JSON.stringify(opts)} ${sig}`,
    );
    assertEquals(services.fired.length, kept ? 1 : 0);
  }
});

Deno.test("a single event is fired with the whole load, each event of a list with its own data", async () => {
  using services = await testServices();
  assertEquals(await run(services, { cmd: "_minion_event", tag: "my/tag", data: "text", pretag: null }), null);
  assertValue(
    services.fired[0].data,
    map({ id: "web1", cmd: "_minion_event", tag: "my/tag", data: "text", pretag: null }),
  );
  const events = [{ tag: "a", data: { x: 1 } }, { tag: "b", data: 5 }, { tag: "c" }, { data: {} }, "rubbish", {
    tag: 5,
  }];
  await run(services, { cmd: "_minion_event", events, pretag: "pre" });
  assertEquals(tags(services).slice(1), ["a", "pre/a", "b", "pre/b", "c", "pre/c"]);
  assertValue(services.fired[1].data, map({ x: 1 }));
  assertValue(services.fired[3].data, map({ data: 5 }));
  assertEquals(await run(services, { cmd: "_minion_event" }), null);
  assertEquals(await run(services, { cmd: "_minion_event", tag: 5 }), null);
});

Deno.test("the error of a beacon is in the data of its event, which is empty in Salt", async () => {
  using services = await testServices();
  const tag = "salt/beacon/web1/log/";
  await run(services, {
    cmd: "_minion_event",
    events: [
      { tag, data: {}, error: "no such file", beacon_name: "log" },
      { tag: "salt/beacon/web2/log/", data: {}, error: "of another minion" },
    ],
  });
  assertEquals(tags(services), [tag]);
  assertValue(services.fired[0].data, map({ error: "no such file" }));
});

Deno.test("grains in an event are cached", async () => {
  using services = await testServices();
  await run(services, { cmd: "_minion_event", tag: "a", data: "", grains: { os: "Linux" } });
  assertValue(services.minions.data.get("web1")?.grains ?? null, map({ os: "Linux" }));
});

const FORGED = [
  "salt/job/20260101000000000000/ret/db1",
  "salt/job/20260101000000000000/new",
  "salt/job/20260101000000000000/publish",
  "salt/auth",
  "salt/key",
  "key",
  "salt/run/20260101000000000000/ret",
  "salt/wheel/20260101000000000000/ret",
  "salt/cloud/x/created",
  "salt/presence/change",
  "20260101000000000000",
  "my/tag\n\nrubbish",
  "my/tag\0",
];

Deno.test("CVE-2025-22239: a minion cannot fire the master's events, neither as a single event nor in a list, nor through pretag", async () => {
  using services = await testServices();
  for (const tag of FORGED) {
    await run(services, { cmd: "_minion_event", tag, data: {} });
    await run(services, { cmd: "_minion_event", events: [{ tag, data: {} }] });
  }
  await run(services, {
    cmd: "_minion_event",
    events: [{ tag: "job/20260101000000000000/new", data: {} }],
    pretag: "salt",
  });
  assertEquals(tags(services), ["job/20260101000000000000/new"]);
  const words = /^WARNING: (Minion web1 tried to fire the event|More was refused or dropped)/;
  assert(services.logged.every((line) => words.test(line)), services.logged.join("\n"));
});

Deno.test("an acknowledgement for another minion, an empty one, and output that cannot be read are refused", async () => {
  using services = await testServices();
  const jid = services.stored.prepare();
  await run(services, { cmd: "_minion_event", tag: `salt/job/${jid}/ack/db1`, data: { state: "running" } });
  for (const data of [{ state: "odd" }, "text"]) {
    await run(services, { cmd: "_minion_event", tag: `salt/job/${jid}/ack/web1`, data });
  }
  for (const data of [{ seq: 0, out: [] }, { seq: 1, out: "text" }, "text"]) {
    await run(services, { cmd: "_minion_event", tag: jobOutput(jid, "web1"), data });
  }
  assertEquals([tags(services), services.stored.acks.all(jid).size], [[], 0]);
  const logText = services.logged.join("\n");
  for (
    const why of [
      `salt/job/${jid}/ack/db1, which it may not fire`,
      `an invalid acknowledgement of job ${jid}`,
      `output of job ${jid} that cannot be read`,
    ]
  ) {
    assertStringIncludes(logText, why);
  }
});

Deno.test("CVE-2025-22236: no event and no command of a minion publishes a job", async () => {
  using services = await testServices({ auto_accept: true });
  services.auth.keys.put("db1", "accepted", (await testKey("web1")).publicKey.pem);
  const job = { tgt: "db1", fun: "cmd.run", arg: ["id"], ret: "", tgt_type: "glob", tmo: 1, timeout: 1, form: "clean" };
  for (
    const cmd of ["_minion_event", "minion_pub", "minion_publish", "minion_runner", "publish", "_send_pub", "_publish"]
  ) {
    await run(services, { cmd, tag: "salt/job/x", ...job });
  }
  assertEquals(services.published, []);
});

Deno.test("CVE-2025-22242: pub_ret opens no file for any value passed as a job id", async () => {
  using services = await testServices();
  for (const jid of ["../../etc/passwd", "/etc/passwd", "20260101000000000000", 5, null]) {
    assertEquals(await run(services, { cmd: "pub_ret", jid }), "");
  }
});

Deno.test("CVE-2024-22232, CVE-2025-22240: no path outside of the file roots is served", async () => {
  using services = await testServices();
  for (const path of ["../../etc/passwd", "/etc/passwd", "a/../../b", "x\0y"]) {
    for (const saltenv of ["base", "../base", "/"]) {
      assertValue(await run(services, { cmd: "_serve_file", path, saltenv, loc: 0 }), map({ data: "", dest: "" }));
      assertValue(await run(services, { cmd: "_file_find", path, saltenv }), map({ path: "", rel: "" }));
      assertEquals(await run(services, { cmd: "_file_hash", path, saltenv }), "");
    }
  }
});

Deno.test("CVE-2024-38824: no file is written outside of the minion's directory", async () => {
  using services = await testServices({ file_recv: true });
  const { cachedir } = services.opts;
  Deno.mkdirSync(`${cachedir}/minions/web1/files/sub`, { recursive: true });
  Deno.symlinkSync(services.root, `${cachedir}/minions/web1/files/out`);
  const before = allBelow(services.root);
  for (
    const path of [
      ["..", "x"],
      ["..", "..", "db1", "files", "x"],
      ["/x"],
      ["sub", "..", "..", "x"],
      ["out", "x"],
      ["x\0y"],
      ["."],
      [],
    ]
  ) {
    const sent = { cmd: "_file_recv", path, loc: 0, data: "x", size: 1 };
    assertEquals(await run(services, sent), false, path.join());
  }
  assertEquals(allBelow(services.root), before);
});

/** The paths of all files and directories below a directory, sorted. */
function allBelow(top: string): string[] {
  return [...Deno.readDirSync(top)].flatMap(({ name, isDirectory }) => [
    `${top}/${name}`,
    ...isDirectory ? allBelow(`${top}/${name}`) : [],
  ]).sort();
}

Deno.test("output of a job that the minion was not asked for is neither stored nor fired", async () => {
  using services = await testServices();
  const { stored: store } = services;
  const jid = store.prepare();
  store.saveLoad(jid, map({ jid, fun: "cmd.run", tgt: "web1" }), ["web1"]);
  store.outputs.open(jid);
  const part = { command: 1, stream: "stdout", text: "line\n" } as const;
  const data = batchToMap({ seq: 1, parts: [part] });
  for (const [of, id] of [[jid, "db1"], [makeJid(), "web1"]]) {
    await run(services, { cmd: "_minion_event", tag: jobOutput(of, id), data }, id);
  }
  assertEquals([store.outputs.ids(jid), tags(services)], [[], []]);
  await run(services, { cmd: "_minion_event", tag: jobOutput(jid, "web1"), data });
  assertEquals([store.outputs.ids(jid), tags(services)], [["web1"], [jobOutput(jid, "web1")]]);
});

Deno.test("output of a job that nobody watches is neither stored nor fired", async () => {
  using services = await testServices();
  const jid = services.stored.prepare();
  services.stored.saveLoad(jid, map({ jid, fun: "cmd.run", tgt: "web1" }), ["web1"]);
  const data = batchToMap({ seq: 1, parts: [{ command: 1, stream: "stdout", text: "line\n" }] });
  await run(services, { cmd: "_minion_event", tag: jobOutput(jid, "web1"), data });
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
  for (const event of events) assertEquals(await run(services, { cmd: "_minion_event", ...event }), null);
  assertEquals(tags(services), events.map(({ tag }) => tag));
  const errors = services.logged.filter((line) => line.startsWith("ERROR")).map((line) => line.split(":")[1]);
  assertEquals(errors, [
    ` The acknowledgement of web1 for job ${jid} is not in the job cache`,
    ` Output of web1 for job ${jid} is not in the job cache`,
    " The grains of web1 are not in the data cache",
  ]);
});

Deno.test("the return of a scheduled job with return_job nocache is fired, and not stored", async () => {
  using services = await testServices();
  assertEquals(await run(services, returned("nocache")), null);
  assertEquals([tags(services), services.stored.list()], [["salt/job/nocache/ret/web1"], []]);
});

Deno.test("a return of the job drift that is not kept is logged, and stored all the same", async () => {
  using services = await testServices();
  const { cachedir } = services.opts, directory = driftDirectory(cachedir);
  const send = async () => {
    const jid = services.stored.prepare();
    assertEquals(await run(services, returned(jid, { schedule: "drift", return: {} })), null);
    assert(services.stored.has(jid, "web1"));
    return services.logged.splice(0).filter((line) => line.includes("The drift of web1"));
  };
  assertEquals(await send(), []);
  // Today's file; at midnight there are two.
  for (const day of driftDays(2, Date.now() + 60_000)) Deno.writeTextFileSync(`${directory}/${day}.jsonl`, "");
  for (const { name } of Deno.readDirSync(directory)) Deno.truncateSync(`${directory}/${name}`, (64 << 20) + 1);
  assertEquals(await send(), ["WARNING: The drift of web1 is not kept: the file of this day is full"]);
  Deno.removeSync(directory, { recursive: true });
  Deno.writeTextFileSync(directory, "in the way");
  const [line, ...more] = await send();
  assertStringIncludes(line, "ERROR: The drift of web1 is not kept: ");
  assertEquals(more, []);
});

Deno.test("each failed state of a told function is an event, in a job of several functions too", async () => {
  using services = await testServices();
  const state = (name: string) => `file_|-${name}_|-/etc/${name}_|-managed`;
  const failing = (name: string) => map({ [state(name)]: { result: false }, [state("ok")]: { result: true } });
  const told = async (over: Record<string, unknown>) => {
    services.fired.length = 0;
    const jid = services.stored.prepare();
    await run(services, returned(jid, { success: false, retcode: 2, ...over }));
    return services.fired.slice(1).map(({ tag, data }) => [
      tag.replace(jid, "JID"),
      data.get("return") ?? null,
      data.get("retcode") ?? null,
      data.get("user") ?? null,
    ]);
  };
  const sls = "salt/job/JID/sub/web1/error/state.sls", high = "salt/job/JID/sub/web1/error/state.highstate";
  assertEquals(await told({ fun: "state.sls", return: failing("motd"), user: "amy" }), [
    [sls, "Error: file.managed", 2, "amy"],
  ]);
  assertEquals(await told({ fun: "state.sls", return: ["Rendering SLS failed"] }), []);
  assertEquals(await told({ fun: "state.show_sls", return: failing("motd") }), []);
  const funs = ["test.ping", "state.sls", "state.highstate"];
  const parts = [true, failing("a"), failing("b")], codes = [0, 2, 3];
  const both = [[sls, "Error: file.managed", 2, null], [high, "Error: file.managed", 3, null]];
  assertEquals(await told({ fun: funs, return: parts, retcode: codes }), both);
  const named = (values: unknown[]) => Object.fromEntries(funs.map((fun, i) => [fun, values[i]]));
  assertEquals(await told({ fun: funs, return: named(parts), retcode: named(codes) }), both);
  assertEquals(await told({ fun: funs, return: parts.slice(0, 1), retcode: 2 }), []);
});

Deno.test("_rotate_key agrees to a key that the accepted one has signed, and to no other", async () => {
  using services = await testServices();
  const [old, next, small] = await Promise.all([testKey("web1"), testKey("next"), testKey("small", 1024)]);
  const stated = (key: PrivateKey, of: PrivateKey, minion = "web1") =>
    packStatements([stateNextKey({ minion }, of, { next: key.publicKey.pem, notBeforeMs: 0, notAfterMs: 0 })]);
  const ask = (next_minion: Value) => run(services, { cmd: ROTATE_KEY_COMMAND, next_minion });
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
  assertEquals(await run(services, { cmd: "revoke_auth" }), true);
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
  assertEquals(await run(services, { cmd: "revoke_auth" }), false);
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
  assertValue(
    await run(services, { cmd: "_register_resources", resources: {}, resource_grains: {} }),
    new Map(),
  );
  assertEquals(services.logged, []);
  const resources = { ssh: ["web2"] };
  assertValue(await run(services, { cmd: "_register_resources", resources, resource_grains: {} }), new Map());
  assertEquals(services.logged, [
    "WARNING: The data that minion web1 sent by _register_resources is dropped (not built yet: resources)",
  ]);
});

Deno.test("the other commands of a minion's start get Salt's answers", async () => {
  using services = await testServices();
  assertValue(await run(services, { cmd: "_master_tops", opts: {} }), new Map());
  assertEquals(await run(services, { cmd: "_file_envs" }), ["base"]);
  const env = await run(services, { cmd: "_master_opts", env_only: true });
  assert(env instanceof Map);
  assertEquals([...env.keys()], ["file_roots", "top_file_merging_strategy", "env_order", "default_top"]);
  const all = await run(services, { cmd: "_master_opts" });
  assertEquals(repr(all), SALTS_MASTER_OPTS);
  await assertRejects(() => run(services, {}), WireError);
});
