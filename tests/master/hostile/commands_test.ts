/**
 * What an accepted minion tries with commands, at the services of a master: to fire events of others, to publish, to
 * read and write files outside its own directory.
 * @module
 */

import { makeJid } from "#lib/protocol/jid.ts";
import { batchToMap } from "#lib/protocol/live_batch.ts";
import { jobOutput } from "#lib/protocol/tags.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { minionAnswer, type TestServices, testServices } from "#tests/support/fleet/services.ts";

const tags = (services: TestServices) => services.fired.map(({ tag }) => tag);

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
    await minionAnswer(services, { cmd: "_minion_event", tag, data: {} });
    await minionAnswer(services, { cmd: "_minion_event", events: [{ tag, data: {} }] });
  }
  await minionAnswer(services, {
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
  await minionAnswer(services, { cmd: "_minion_event", tag: `salt/job/${jid}/ack/db1`, data: { state: "running" } });
  for (const data of [{ state: "odd" }, "text"]) {
    await minionAnswer(services, { cmd: "_minion_event", tag: `salt/job/${jid}/ack/web1`, data });
  }
  for (const data of [{ seq: 0, out: [] }, { seq: 1, out: "text" }, "text"]) {
    await minionAnswer(services, { cmd: "_minion_event", tag: jobOutput(jid, "web1"), data });
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
    await minionAnswer(services, { cmd, tag: "salt/job/x", ...job });
  }
  assertEquals(services.published, []);
});

Deno.test("CVE-2025-22242: pub_ret opens no file for any value passed as a job id", async () => {
  using services = await testServices();
  for (const jid of ["../../etc/passwd", "/etc/passwd", "20260101000000000000", 5, null]) {
    assertEquals(await minionAnswer(services, { cmd: "pub_ret", jid }), "");
  }
});

Deno.test("CVE-2024-22232, CVE-2025-22240: no path outside of the file roots is served", async () => {
  using services = await testServices();
  for (const path of ["../../etc/passwd", "/etc/passwd", "a/../../b", "x\0y"]) {
    for (const saltenv of ["base", "../base", "/"]) {
      assertEquals(
        await minionAnswer(services, { cmd: "_serve_file", path, saltenv, loc: 0 }),
        map({ data: "", dest: "" }),
      );
      assertEquals(await minionAnswer(services, { cmd: "_file_find", path, saltenv }), map({ path: "", rel: "" }));
      assertEquals(await minionAnswer(services, { cmd: "_file_hash", path, saltenv }), "");
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
    assertEquals(await minionAnswer(services, sent), false, path.join());
  }
  assertEquals(allBelow(services.root), before);
});

Deno.test("a pushed file of more than file_recv_max_size is refused with a warning; one without a size is stored as it comes", async () => {
  using services = await testServices({ file_recv: true, file_recv_max_size: 1 });
  const path = `${services.opts.cachedir}/minions/web1/files/a/b`;
  const push = (more: Record<string, unknown>) =>
    minionAnswer(services, { cmd: "_file_recv", path: ["a", "b"], loc: 0, data: "x", ...more });
  assertEquals(await push({ data: new Uint8Array((1 << 20) + 1), size: 1 }), false);
  assertEquals(await push({ loc: 1 << 20, size: 1 }), false);
  assertEquals(await push({ loc: -1, size: 1 }), false);
  const [first, second, ...others] = services.logged;
  assertEquals(
    [first, second],
    Array(2).fill(
      "WARNING: A file that minion web1 pushes is refused: it is larger than file_recv_max_size (1 MiB)",
    ),
  );
  assertEquals(others, []);
  assertEquals(await push({ data: "begin" }), true);
  assertEquals(Deno.readTextFileSync(path), "begin");
  assertEquals(await push({ loc: 5, data: " end" }), true);
  assertEquals(Deno.readTextFileSync(path), "begin end");
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
    await minionAnswer(services, { cmd: "_minion_event", tag: jobOutput(of, id), data }, id);
  }
  assertEquals([store.outputs.ids(jid), tags(services)], [[], []]);
  await minionAnswer(services, { cmd: "_minion_event", tag: jobOutput(jid, "web1"), data });
  assertEquals([store.outputs.ids(jid), tags(services)], [["web1"], [jobOutput(jid, "web1")]]);
});
