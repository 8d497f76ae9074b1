/**
 * Requests for runners and wheel functions, and jobs that a command attaches to, with a scripted master.
 * @module
 */

import { requestRunner } from "#lib/client/runner_request.ts";
import { localCommands } from "#lib/client/runner_local.ts";
import { LocalClient } from "#lib/client/local.ts";
import { askMaster, requestToken } from "#lib/client/token_request.ts";
import { requestWheel, startWheel } from "#lib/client/wheel_request.ts";
import { CommandError, NoMasterError, RefusedError, TargetError, WireError } from "#lib/errors.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { functionEvent } from "#lib/protocol/tags.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { MasterHost } from "#tests/support/fleet/master_host.ts";

const JID = "20260101000000000001";
const PROOF = map({ token: "t" });
const RUNNER = { fun: "test.arg", args: [1], kwargs: map({ a: 2 }) };
const LONG = { timeoutMs: 30_000, gatherMs: 30_000 };

function answering(host: MasterHost, reply: Value, then?: () => void): void {
  host.master.script = () => {
    if (then !== undefined) queueMicrotask(then);
    return encode(reply, "wire");
  };
}

const REFUSAL = map({ error: { name: "EauthAuthenticationError", message: "no" } });

Deno.test("a runner's outcome is the event of its end; a refusal is an outcome too, and an unknown answer is an error", async () => {
  await using host = await MasterHost.start();
  const signal = new AbortController().signal;
  const run = () => requestRunner(host.opts, RUNNER, { proof: PROOF, signal });
  const ended = (data: Record<string, unknown>) => () => void host.fire(functionEvent("runner", JID, "ret"), data);
  const rows: [event: Record<string, unknown>, end: string, result: Value, retcode: number][] = [
    [{ success: true, return: "x", retcode: 0 }, "done", "x", 0],
    [{ success: true, return: "x", retcode: 3 }, "done", "x", 3],
    [{ success: false, return: "y" }, "failed", "y", 1],
    [{ success: true }, "done", null, 0],
  ];
  for (const [event, end, result, retcode] of rows) {
    answering(host, map({ jid: JID, tag: `salt/run/${JID}` }), ended(event));
    assertEquals<unknown>(await run(), { end, return: result, retcode });
  }
  const [{ load }] = host.master.requests;
  assertEquals(load, map({ cmd: "runner", fun: "test.arg", kwarg: { arg: [1], kwarg: { a: 2 } }, token: "t" }));
  answering(host, REFUSAL);
  assertEquals<unknown>(await run(), { end: "refused", return: "no", retcode: 1 });
  for (const odd of [null, "bad load", map({ jid: 5 })]) {
    answering(host, odd);
    await assertRejects(run, WireError, "to a runner");
  }
});

Deno.test("Ctrl-C ends the wait for a runner", async () => {
  await using host = await MasterHost.start();
  const controller = new AbortController();
  answering(host, map({ jid: JID }), () => controller.abort());
  const { end } = await requestRunner(host.opts, RUNNER, { proof: PROOF, signal: controller.signal });
  assertEquals(end, "noMaster");
});

Deno.test("a wheel function returns its result; a failure, a refusal and an unknown answer are errors", async () => {
  await using host = await MasterHost.start();
  const ask = () => requestWheel(host.opts, { fun: "key.list_all" }, PROOF);
  answering(host, map({ data: { success: true, return: { minions: [] } } }));
  assertEquals(await ask(), map({ minions: [] }));
  answering(host, map({ data: { success: true } }));
  assertEquals(await ask(), null);
  answering(host, map({ data: { success: false, return: "failed" } }));
  await assertRejects(ask, CommandError, "failed");
  answering(host, REFUSAL);
  await assertRejects(ask, RefusedError, "no");
  for (const odd of ["bad load", map({ data: "text" })]) {
    answering(host, odd);
    await assertRejects(ask, WireError, "to a wheel function");
  }
});

Deno.test("a wheel function that is only started has a job; a refusal and an unknown answer are errors", async () => {
  await using host = await MasterHost.start();
  const start = () => startWheel(host.opts, { fun: "key.list_all" }, PROOF);
  answering(host, map({ tag: `salt/wheel/${JID}`, jid: JID }));
  assertEquals(await start(), { tag: `salt/wheel/${JID}`, jid: JID });
  const [{ load }] = host.master.requests;
  assertEquals(load, map({ cmd: "wheel_async", fun: "key.list_all", arg: [], kwarg: {}, token: "t" }));
  answering(host, REFUSAL);
  await assertRejects(start, RefusedError, "no");
  for (const odd of [null, map({ tag: 5, jid: JID }), map({ tag: "salt/wheel" })]) {
    answering(host, odd);
    await assertRejects(start, WireError, "to a wheel function");
  }
});

Deno.test("a master that does not answer a request for a token in time is none", async () => {
  await using host = await MasterHost.start();
  host.master.script = () => undefined;
  await assertRejects(
    () => askMaster(host.opts, map({ cmd: "mk_token", eauth: "file" }), { timeoutMs: 100, tries: 1 }),
    NoMasterError,
    "Salt request timed out. The master is not responding.",
  );
  assertEquals(host.master.requests.length, 1);
});

Deno.test("a master that rejects a user returns no token", async () => {
  await using host = await MasterHost.start();
  for (const [reply, expected] of [[map({ token: "t" }), map({ token: "t" })], ["", undefined], [REFUSAL, undefined]]) {
    answering(host, reply ?? null);
    assertEquals(await requestToken(host.opts, map({ eauth: "file" })), expected);
  }
});

Deno.test("a request for a token ends at once if no master is running", async () => {
  await using host = await MasterHost.start();
  // Nothing answers at this port: without the look at the sockets the request would wait for 45 seconds.
  const sock_dir = `${host.opts.cachedir}/no_sockets`;
  const error = await assertRejects(
    () => requestToken({ ...host.opts, sock_dir }, map({ eauth: "file" })),
    NoMasterError,
  );
  assertStringIncludes(error.message, `${sock_dir}: no salt-master of this configuration is running`);
  assertEquals(host.master.requests, []);
});

Deno.test("a user who may not look at the master's sockets gets a token", async () => {
  await using host = await MasterHost.start();
  answering(host, map({ token: "t" }));
  const { connect } = Deno;
  Deno.connect = (): Promise<never> => Promise.reject(new Deno.errors.PermissionDenied("no"));
  try {
    assertEquals(await requestToken(host.opts, map({ eauth: "file" })), map({ token: "t" }));
  } finally {
    Deno.connect = connect;
  }
});

Deno.test("attaching to a job shows its stored output and returns first, then the minions that were not reached", async () => {
  await using host = await MasterHost.start();
  using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
  await assertRejects(() => client.attach(JID, LONG).next(), TargetError, `There is no job ${JID} in the job cache`);

  const jobs = jobStore(host.opts.cachedir);
  jobs.prepare(JID);
  jobs.saveLoad(JID, map({ fun: "cmd.run", jid: JID, tgt: ["a", "z"], tgt_type: "list" }), ["a"]);
  jobs.outputs.open(JID);
  const part = { command: 1, stream: "stdout", text: "line\n" } as const;
  jobs.outputs.append(JID, "a", { seq: 1, parts: [part] });
  jobs.saveReturn(map({ id: "a", jid: JID, return: "done", retcode: 0 }));
  const shown: unknown[] = [];
  const onOutput = (id: string, parts: readonly unknown[]) => void shown.push([id, parts.length]);
  for await (const one of client.attach(JID, LONG, { onOutput })) shown.push([one.id, one.outcome]);
  assertEquals(shown, [["a", 1], ["a", "returned"], ["z", "no such minion"]]);
});

Deno.test("Ctrl-C ends the wait of who is attached to a job", async () => {
  await using host = await MasterHost.start();
  using client = await LocalClient.connect(host.opts, { user: "root", log: SILENT_LOGGER });
  const jobs = jobStore(host.opts.cachedir);
  jobs.prepare(JID);
  jobs.saveLoad(JID, map({ fun: "cmd.run", jid: JID, tgt: ["a", "z"], tgt_type: "list" }), ["a"]);
  const control = new AbortController();
  const seen: string[] = [];
  const attached = (async () => {
    for await (const one of client.attach(JID, LONG, { signal: control.signal })) seen.push(one.id);
  })();
  queueMicrotask(() => control.abort());
  await attached;
  assertEquals(seen, []);
});

Deno.test("minions that acknowledge no jobs are asked whether they run it", async () => {
  await using host = await MasterHost.start();
  const jobs = jobStore(host.opts.cachedir);
  jobs.prepare(JID);
  host.accept("old", "idle", "mute");
  host.running.set("old", map({ fun: "cmd.run", jid: JID }));
  host.running.set("idle", map({}));
  const local = localCommands(host.opts, { user: "root", log: SILENT_LOGGER });
  const outcomes = await local.outcomes(JID, ["old", "idle", "mute"]);
  assertEquals(host.questions[0], ["old", "idle", "mute"]);
  assertEquals(
    [...outcomes].map(([id, { outcome }]) => [id, outcome]),
    [["old", "running"], ["idle", "not received"], ["mute", "not received"]],
  );
});
