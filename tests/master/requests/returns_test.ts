/** @module */
import { isDone } from "#lib/protocol/acknowledgement.ts";
import { jidDirectory, makeJid } from "#lib/protocol/jid.ts";
import { minionCommand } from "#lib/master/requests/minion_commands.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { StoreError } from "#lib/errors.ts";
import { driftDays, driftDirectory } from "#lib/jobs/drift_log.ts";
import { eventually } from "#tests/support/eventually.ts";
import { sleep } from "#lib/os/sleep.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { minionAnswer, type TestServices, testServices } from "#tests/support/fleet/services.ts";

const tags = (services: TestServices) => services.fired.map(({ tag }) => tag);

function returned(jid: string, over: Record<string, unknown> = {}): Record<string, unknown> {
  return { cmd: "_return", jid, fun: "test.ping", fun_args: [], return: true, retcode: 0, success: true, ...over };
}

Deno.test("a return is stored, fired as an event, and acknowledged with None", async () => {
  using services = await testServices();
  const jid = services.stored.prepare();
  services.stored.saveLoad(jid, map({ jid, fun: "test.ping", tgt: "*" }), ["web1"]);
  assertEquals(await minionAnswer(services, returned(jid)), null);
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
  assert(isDone("_return", await minionAnswer(services, returned(jid))));
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
  assertEquals(await minionAnswer(services, returned(jid)), null);
  assertEquals(await minionAnswer(services, returned(jid, { return: "forged" })), "");
  assertEquals(services.stored.getReturn(jid, "web1")?.return, true);
  assertEquals(tags(services).length, 2);
});

Deno.test("a return for an invalid job id is acknowledged, and neither stored nor fired", async () => {
  using services = await testServices();
  for (const jid of ["", "x", "../../etc", "2026", 5, null, ["x"], "20260101000000000000/../x", undefined]) {
    assertEquals(await minionAnswer(services, returned("", { jid })), null);
  }
  assertEquals(services.fired, []);
  assertEquals(services.stored.list(), []);
  for (const line of services.logged) assert(line.length < 400, line);
});

Deno.test("a return of salt-call gets a job id from the master", async () => {
  using services = await testServices();
  assertEquals(await minionAnswer(services, returned("req", { fun_args: ["a"] })), null);
  const [{ jid, load }] = services.stored.list();
  assertEquals([load.get("tgt"), load.get("tgt_type"), load.get("arg")], ["web1", "glob", ["a"]]);
  assertEquals(tags(services), [`salt/job/${jid}/ret/web1`]);
});

Deno.test("without a cache, a return still fires its event", async () => {
  using services = await testServices({ job_cache: false });
  const jid = makeJid();
  assertEquals(await minionAnswer(services, returned(jid)), null);
  assertEquals(await minionAnswer(services, returned("req")), null);
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
  assertEquals(await minionAnswer(services, returned(jid)), refusal);
  assertEquals(await minionAnswer(services, returned("req")), refusal);
  assertEquals(tags(services)[0], `salt/job/${jid}/ret/web1`);
  assert(/^salt\/job\/\d{20}\/ret\/web1$/.test(tags(services)[1]), tags(services)[1]);
  assertEquals(await minionAnswer(services, { cmd: "_pillar", grains: { os: "Linux" } }), new Map());
  const errors = services.logged.filter((line) => line.startsWith("ERROR"));
  assertStringIncludes(errors[0], `ERROR: The return of web1 for job ${jid} is not in the job cache`);
  assertStringIncludes(errors[2], "ERROR: The grains of web1 are not in the data cache");
  assertEquals(errors.length, 3);
  const before = tags(services).length;
  assertEquals(await minionAnswer(services, returned(jid)), refusal);
  assertEquals(tags(services).length, before);
  Deno.removeSync(`${services.opts.cachedir}/jobs`);
  assertEquals(await minionAnswer(services, returned(jid)), null);
  assertEquals(services.stored.getReturn(jid, "web1")?.return, true);
});

Deno.test("job_cache_store_endtime stores the time of a job's last return; a repeated return does not change it", async () => {
  for (const job_cache_store_endtime of [true, false]) {
    using services = await testServices({ job_cache_store_endtime });
    const { stored: store } = services;
    const jid = store.prepare();
    assertEquals(store.getEndTime(jid), undefined);
    await minionAnswer(services, returned(jid));
    const first = store.getEndTime(jid);
    if (!job_cache_store_endtime) {
      assertEquals(first, undefined);
      continue;
    }
    assert(/^\d{4}, [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d\.\d{6}$/.test(first ?? ""), first);
    await minionAnswer(services, returned(jid));
    assertEquals(store.getEndTime(jid), first);
    await minionAnswer(services, { ...returned(jid), id: "web2" }, "web2");
    assert(store.getEndTime(jid) !== first);
  }
});

Deno.test("with unique_jid the jids of salt-call's jobs have the master's process id, stored or not", async () => {
  for (const job_cache of [true, false]) {
    using services = await testServices({ unique_jid: true, job_cache });
    await minionAnswer(services, returned("req"));
    assertStringIncludes(tags(services)[0], `_${Deno.pid}/ret/web1`);
  }
});

Deno.test("if an end time cannot be stored, the return is still stored and reported", async () => {
  using services = await testServices({ job_cache_store_endtime: true });
  const jid = services.stored.prepare();
  const directory = `${services.opts.cachedir}/jobs/${jidDirectory(jid, "sha256")}`;
  Deno.mkdirSync(`${directory}/endtime/in the way`, { recursive: true });
  assertEquals(await minionAnswer(services, returned(jid)), null);
  assertEquals(services.stored.has(jid, "web1"), true);
  assertStringIncludes(services.logged.join("\n"), `ERROR: The end time of job ${jid} is not in the job cache`);
});

Deno.test("the master logs minion, job and size of a return that was too large", async () => {
  using services = await testServices();
  const jid = makeJid();
  const oversized = { bytes: 200_000_000, limit: 104_857_600 };
  assertEquals(await minionAnswer(services, returned(jid, { success: false, retcode: 1, oversized })), null);
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

Deno.test("the return of a scheduled job with return_job nocache is fired, and not stored", async () => {
  using services = await testServices();
  assertEquals(await minionAnswer(services, returned("nocache")), null);
  assertEquals([tags(services), services.stored.list()], [["salt/job/nocache/ret/web1"], []]);
});

Deno.test("a return of the job drift that is not kept is logged, and stored all the same", async () => {
  using services = await testServices();
  const { cachedir } = services.opts, directory = driftDirectory(cachedir);
  const send = async () => {
    const jid = services.stored.prepare();
    assertEquals(await minionAnswer(services, returned(jid, { schedule: "drift", return: {} })), null);
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
    await minionAnswer(services, returned(jid, { success: false, retcode: 2, ...over }));
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
