/**
 * The vulnerabilities of Salt's past security advisories, tried on a running master with raw frames: by an unknown
 * sender, and by an accepted minion that sends false data. The others of that list are in
 * tests/master/hostile/frames_test.ts; docs/security.md names them all.
 * @module
 */

import { makeJid } from "#lib/protocol/jid.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { isMap, map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { startJob } from "#tests/support/fleet/jobs.ts";
import { Publishes } from "#tests/support/fleet/publishes.ts";
import { opened, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { filesBelow, ifThere } from "#tests/support/tree.ts";
import { allKeys } from "#tests/support/fleet/keys.ts";

const TIMEOUTS = { timeoutMs: WITHIN_MS, tries: 1 };

async function ask(fleet: Fleet, frame: Uint8Array): Promise<Uint8Array> {
  using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
  return await channel.request(frame, TIMEOUTS);
}

async function clear(fleet: Fleet, load: Record<string, unknown>): Promise<Value> {
  return opened(await ask(fleet, clearRequest(map(load))));
}

/** An accepted minion that sends what a test chooses. */
async function acceptedMinion(fleet: Fleet, id = "liar"): Promise<ScriptedMinion> {
  const minion = new ScriptedMinion(id, await testKey(id), (frame) => ask(fleet, frame));
  assert((await minion.signIn()).inner.has("aes"));
  return minion;
}

/** Every file below `directory`, with its size, but for that of the event log, which grows with events of sign-ins. */
function files(directory: string): string[] {
  const size = (path: string) => path.endsWith(".log") ? "" : ifThere(() => Deno.lstatSync(path))?.size;
  return [...filesBelow(directory)].map((path) => `${path} ${size(path)}`).sort();
}

const HOSTILE_NAMES = [
  "../x",
  "../../../../../../tmp/salt_lesson",
  "/tmp/salt_lesson",
  "a/../../x",
  "x\0y",
  ".",
  "..",
  "a\nb",
];

fleetTest("CVE-2020-16846, CVE-2020-25592: no request data reaches a shell, and bogus credentials are denied", {
  minions: ["db1"],
}, async (fleet) => {
  const bait = `${fleet.root}/bait`;
  const evil = [`$(touch ${bait})`, `; touch ${bait}`, `\`touch ${bait}\``, `|touch ${bait}`];
  const key = Deno.readTextFileSync(accessKeyPath(fleet.masterOpts.cachedir, fleet.masterOpts.user));
  for (const text of evil) {
    await clear(fleet, { cmd: "_auth", id: text, nonce: "n", pub: (await testKey("liar")).publicKey.pem });
    await clear(fleet, { cmd: "publish", user: "root", key, tgt: text, fun: "test.ping", arg: [] });
    const ssh = { client: "ssh", tgt: "*", fun: text, ssh_priv: text, ssh_options: [text], eauth: "pam", token: text };
    for (const cmd of ["runner", "wheel", "mk_token", "get_token"]) await clear(fleet, { cmd, ...ssh });
    for (const proof of [{ token: text }, { token: "x" }, { eauth: "pam", username: "root", password: text }]) {
      const publish = { cmd: "publish", user: "root", key, tgt: "*", fun: "test.ping", arg: [], kwargs: proof };
      const reply = await clear(fleet, publish);
      assertEquals(
        repr(reply),
        repr(map({ error: { name: "AuthenticationError", message: "Authentication error occurred." } })),
      );
    }
    // A command without a shell gets them as arguments.
    const run = await fleet.salt("--static", "--out=json", "db1", "cmd.run", `echo '${text}'`, "python_shell=False");
    assertEquals(run.code, 0, run.err);
    assertStringIncludes(run.out, JSON.stringify(text).slice(1, -1));
  }
  assertEquals(files(fleet.root).filter((file) => file.startsWith(bait)), []);
});

fleetTest("CVE-2021-25283, CVE-2025-62348: templates and YAML tags in arguments are text", {
  minions: ["db1"],
}, async (fleet) => {
  const texts = [
    "{{ ''.__class__.__mro__ }}",
    "{% for x in salt %}{{ x }}{% endfor %}",
    '!!python/object/apply:os.system ["true"]',
    "!!js/function 'function () {}'",
  ];
  for (const text of texts) {
    const shown = await fleet.saltJson("db1", "test.echo", text);
    assertEquals(isMap(shown) ? shown.get("db1") : undefined, text);
  }
});

fleetTest("CVE-2021-25284: credentials of a denied request are in no log and no event", {}, async (fleet) => {
  using events = await fleet.listen("");
  const secret = "correct-horse-battery";
  for (const cmd of ["publish", "runner", "wheel", "mk_token", "get_token", "nonesuch"]) {
    const proof = { key: secret, token: secret, eauth: "pam", username: "root", password: secret };
    await clear(fleet, { cmd, tgt: "*", fun: "test.ping", arg: [], user: "root", ...proof, kwargs: proof });
  }
  assertEquals(fleet.logs.filter((line) => line.includes(secret)), []);
  assertEquals(await events.next(100), undefined);
});

fleetTest(
  "CVE-2024-38825: a request for external authentication that is not configured is denied, whatever its fields",
  {
    master: { external_auth: { auto: { root: [".*"] }, pki: { "CN=web1": [".*"] } } },
  },
  async (fleet) => {
    const certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----";
    for (const eauth of ["pam", "pki", "ldap", "sharedsecret", "rest", "auto", "../pam"]) {
      for (const username of ["root", certificate]) {
        assertEquals(await clear(fleet, { cmd: "mk_token", eauth, username, password: "" }), "");
      }
    }
  },
);

fleetTest(
  "CVE-2024-22231, CVE-2024-22232, CVE-2024-38824, CVE-2025-22237, CVE-2025-22238, CVE-2025-22240, CVE-2025-22242: " +
    "no name that a minion sends leads to a file",
  {},
  async (fleet) => {
    const minion = await acceptedMinion(fleet);
    await minion.request({ cmd: "_pillar", grains: { os: "x" } });
    // The mine is its own, and leaves a lock file.
    for (const cmd of ["_mine", "_mine_flush"]) await minion.request({ cmd, data: {} });
    const before = files(fleet.root);
    for (const name of HOSTILE_NAMES) {
      const about = { path: name, saltenv: name, loc: 0, prefix: name, gzip: 9 };
      for (const cmd of ["_serve_file", "_file_hash", "_file_hash_and_stat", "_file_find", "_file_list", "_dir_list"]) {
        const reply = await minion.request({ cmd, ...about });
        assertEquals(repr(reply).includes("root:"), false, cmd);
      }
      await minion.request({ cmd: "_file_recv", path: ["a", name], loc: 0, data: "x", size: 1 });
      await minion.request({ cmd: "_file_recv", path: name, loc: 0, data: "x", size: 1 });
      await minion.request({
        cmd: "_syndic_return",
        jid: name,
        master_id: name,
        load: { jid: name, return: { [name]: 1 } },
      });
      await minion.request({
        cmd: "_syndic_return",
        load: [{ jid: makeJid(), return: { [name]: {} }, master_id: name }],
      });
      for (const cmd of ["_mine", "_mine_get", "_mine_delete", "_mine_flush"]) {
        await minion.request({ cmd, data: { [name]: 1 }, fun: name, tgt: name, bank: name, id_: name });
      }
      assertEquals(await minion.request({ cmd: "pub_ret", jid: name }), "");
      await minion.request({ cmd: "_return", jid: name, return: 1, fun: "test.ping", id: "liar" });
      await minion.request({
        cmd: "_register_resources",
        resources: { [name]: [name] },
        resource_grains: { [name]: {} },
      });
      const virtkey = await clear(fleet, { cmd: "virtkey", id: name, virtkey: name });
      assertEquals(repr(virtkey), name.includes("\0") ? "'bad load: id contains a null byte'" : "{}");
      await minion.request({
        cmd: "_pillar",
        grains: { os: "x" },
        ext: { git: [`x\n${name}`] },
        pillarenv: name,
        saltenv: name,
      });
    }
    assertEquals(files(fleet.root), before);
    assertEquals(allKeys(fleet.keys).pending, []);
  },
);

fleetTest("CVE-2024-22231: a sign-in under a hostile id leaves no file", {}, async (fleet) => {
  const before = files(fleet.root);
  for (const id of HOSTILE_NAMES) {
    const minion = new ScriptedMinion(id, await testKey("liar"), (frame) => ask(fleet, frame));
    try {
      assertEquals((await minion.signIn()).inner.get("ret"), false, JSON.stringify(id));
    } catch (error) {
      // An id with a NUL byte is refused before anything is signed.
      assert(error instanceof TypeError && id.includes("\0"), `${JSON.stringify(id)}: ${error}`);
    }
  }
  assertEquals(files(fleet.root), before);
});

/** Data that only a master, or only another minion, may send. */
const FORGED = (jid: string) => [
  jid,
  `salt/job/${jid}/new`,
  `salt/job/${jid}/publish`,
  `salt/job/${jid}/ret/db1`,
  `salt/job/${jid}/ret/liar`,
  `salt/job/${jid}/start/db1`,
  `salt/job/${jid}/ack/db1`,
  `salt/job/${jid}/prog/db1/0`,
  `salt/job/${jid}/out/db1`,
  `salt/minion/db1/start`,
  `salt/beacon/db1/load/`,
  `salt/state_result/${jid}/db1/x`,
  "salt/auth",
  "salt/key",
  "key",
  "salt/presence/present",
  "salt/presence/change",
  `salt/run/${jid}/ret`,
  `salt/wheel/${jid}/ret`,
  "salt/cloud/db1/created",
  "salt/cluster/peer/join",
  "salt/fileserver/roots/update",
  "salt/batch/x/done",
  "salt/stats/MWorker-1",
  "syndic/db1/salt/job/x/new",
  "minion/refresh/db1",
  "resource/refresh/db1",
];

fleetTest(
  "CVE-2025-22239: forged events are rejected, alone and in a list, and the minion's own events are fired",
  {},
  async (
    fleet,
  ) => {
    const minion = await acceptedMinion(fleet);
    using events = await fleet.listen("");
    const jid = makeJid();
    for (const tag of FORGED(jid)) {
      const data = { id: "db1", return: "forged", jid, lost: ["db1"], new: [], present: [] };
      assertEquals(await minion.request({ cmd: "_minion_event", tag, data, pretag: null }), null);
      assertEquals(await minion.request({ cmd: "_minion_event", events: [{ tag, data }], pretag: null }), null);
      // The same tag in two parts: every minion may send the second part alone.
      const [pretag, ...rest] = tag.split("/");
      if (rest.length === 0) continue;
      const half = rest.join("/");
      assertEquals(await minion.request({ cmd: "_minion_event", events: [{ tag: half, data }], pretag }), null);
      if (half !== "key") assertEquals((await events.next(WITHIN_MS))?.tag, half);
    }

    const own = [
      "salt/minion/liar/start",
      "minion_start",
      "salt/beacon/liar/load/",
      `salt/job/${jid}/prog/liar/0`,
      "my/tag",
    ];
    for (const tag of own) {
      await minion.request({ cmd: "_minion_event", tag, data: {}, pretag: null });
      assertEquals((await events.next(WITHIN_MS))?.tag, tag);
    }
    assertEquals(await events.next(50), undefined);
  },
);

fleetTest(
  "CVE-2025-22236: no event and no request of a minion publishes a job",
  { minions: ["db1"] },
  async (fleet) => {
    const minion = await acceptedMinion(fleet);
    using publishes = await Publishes.listen(fleet.masterOpts, minion);
    const job = {
      tgt: "db1",
      fun: "cmd.run",
      arg: ["id"],
      ret: "",
      tgt_type: "glob",
      tmo: 1,
      timeout: 1,
      form: "clean",
    };
    const jid = makeJid();
    for (
      const cmd of [
        "minion_pub",
        "minion_publish",
        "minion_runner",
        "publish",
        "_send_pub",
        "_publish",
        "runner",
        "wheel",
      ]
    ) {
      await minion.request({ cmd, jid, user: "root", ...job });
    }
    for (const tag of [`salt/job/${jid}/publish`, "publish", "fire_master", "salt/job"]) {
      await minion.request({ cmd: "_minion_event", tag, data: job, pretag: null, ...job });
    }
    assertEquals(await publishes.rest(), []);
  },
);

fleetTest("a minion that returns for another minion's job, or twice, does not change the operator's result", {
  minions: ["db1"],
}, async (fleet) => {
  const minion = await acceptedMinion(fleet);
  const job = await startJob(fleet, "test.sleep", { tgt: "db1", arg: [1] });
  const lie = { jid: job.jid, fun: "test.sleep", fun_args: [], return: "lie", retcode: 0, success: true };
  // With its own id, for a job that it did not get; and with the id of another minion.
  await minion.request({ cmd: "_return", ...lie });
  assertEquals(await minion.send(minion.seal({ cmd: "_return", ...lie }, { inner: { id: "db1" } })), "bad load");
  await minion.request({ cmd: "_minion_event", tag: `salt/job/${job.jid}/ret/db1`, data: lie, id: "liar" });
  const collected = await job.done;
  assertEquals(collected.map(({ kind, id }) => ({ kind, id })), [{ kind: "returned", id: "db1" }]);
  assertEquals(collected.map((one) => one.kind === "returned" && one.return), [true]);

  const own = await startJob(fleet, "test.ping", { tgt: "liar", timeoutMs: WITHIN_MS });
  assertEquals(await minion.request({ cmd: "_return", ...lie, jid: own.jid, return: "first" }), null);
  assertEquals(await minion.request({ cmd: "_return", ...lie, jid: own.jid, return: "second" }), "");
  assertEquals((await own.done).map((one) => one.kind === "returned" && one.return), ["first"]);
  const run = await fleet.saltRun("--out=json", "jobs.lookup_jid", own.jid);
  assertStringIncludes(run.out, "first");
  assertEquals(run.out.includes("second"), false);
});
