/**
 * Requests that a master's handlers reject, and their log messages after failures.
 * @module
 */

import { FileUpdates } from "#lib/master/daemon/file_updates.ts";
import { masterJournal } from "#lib/jobs/open_journal.ts";
import { restoreFromJournal } from "#lib/master/daemon/journal.ts";
import { publishCommand } from "#lib/master/requests/publish.ts";
import { RequestHandler } from "#lib/master/requests/request_handler.ts";
import { MAX_FIELDS } from "#lib/protocol/payload.ts";
import { map } from "#lib/values/value.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { makeFileServer } from "#tests/support/files/file_server.ts";
import { ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { testServices } from "#tests/support/fleet/services.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

Deno.test("an encrypted request with too many fields is rejected", async () => {
  using services = await testServices();
  const handler = new RequestHandler(services);
  const minion = new ScriptedMinion(
    "web1",
    await testKey("web1"),
    (frame) => handler.handle(frame) as Promise<Uint8Array>,
  );
  services.auth.keys.put("web1", "accepted", minion.key.publicKey.pem);
  await minion.signIn();
  const many = Object.fromEntries(Array.from({ length: MAX_FIELDS }, (_, i) => [`field${i}`, i]));
  assertEquals(await minion.request({ cmd: "_minion_event", ...many }), "bad load");
});

Deno.test("a token that is too long for the minion's key is logged, and missing from the reply", async () => {
  using services = await testServices();
  const handler = new RequestHandler(services);
  const key = await PrivateKey.generate(1024);
  const minion = new ScriptedMinion("web1", key, (frame) => handler.handle(frame) as Promise<Uint8Array>);
  services.auth.keys.put("web1", "accepted", key.publicKey.pem);
  const token = services.auth.masterKeys.current.publicKey.encrypt("OAEP-SHA1", new Uint8Array(200));
  const { inner } = await minion.signIn({ token });
  assert(inner.has("aes") && !inner.has("token"));
  assertMatch(
    services.logged.join("\n"),
    /The token in the sign-in of web1 cannot be decrypted: its 200 bytes do not fit/,
  );
});

Deno.test("minions whose grains take too long to match are named in the log", async () => {
  using services = await testServices();
  const { pem } = (await testKey("web1")).publicKey;
  for (const id of ["web1", "web2"]) services.auth.keys.put(id, "accepted", pem);
  services.minions.data.setGrains("web1", map({ role: Array.from({ length: 9 }, () => "a".repeat(100_000)) }));
  services.minions.data.setGrains("web2", map({ role: "ab" }));
  const load = map({
    cmd: "publish",
    tgt: "role:*a*a*a*a*b",
    tgt_type: "grain",
    fun: "test.ping",
    arg: [],
    key: services.accessKeys.get("root"),
    ret: "",
    jid: "",
    kwargs: {},
    user: "root",
  });
  await publishCommand(load, services);
  assertMatch(services.logged.join("\n"), /The data of these minions take too long to match with .*: web1/);
});

Deno.test("a record of the journal of a kind that this version does not know is named in the log", async () => {
  using services = await testServices({ durability: "machine" });
  const { opts, log, logged } = services;
  const journal = masterJournal(opts, log);
  assert(journal !== undefined);
  for (const record of [map({ kind: "of the future", jid: "1" }), "no map"]) journal.append(record);
  await journal.commit();
  // The file is copied, as after a crash at this point: closing the journal would remove it.
  const [{ name }] = [...Deno.readDirSync(`${opts.cachedir}/journal`)];
  const left = Deno.readFileSync(`${opts.cachedir}/journal/${name}`);
  await journal.close();
  Deno.writeFileSync(`${opts.cachedir}/journal/${name}`, left);
  await restoreFromJournal(opts, services.auth.masterKeys.current.publicKey.pem, log);
  assertEquals(logged, [
    ...Array(2).fill("ERROR: A record of the journal has a kind that this version does not know"),
    "INFO: Read 2 records of the journal that the last master left",
  ]);
});

Deno.test("a journal that cannot be read stays for the next start", async () => {
  using services = await testServices({ durability: "process" });
  const { opts, log, logged } = services;
  Deno.mkdirSync(opts.cachedir, { recursive: true });
  Deno.writeTextFileSync(`${opts.cachedir}/journal`, "in the way");
  await restoreFromJournal(opts, services.auth.masterKeys.current.publicKey.pem, log);
  assertMatch(logged.join("\n"), /ERROR: The journal stays for the next start: /);
});

Deno.test("file updates that end while they load their backends set no timers", async () => {
  using server = await makeFileServer(map({ fileserver_backend: ["roots"], fileserver_events: true }));
  const { opts, log, logged } = server.services;
  const updates = new FileUpdates({ backends: BACKENDS, opts, log, fire: () => Promise.resolve() });
  await updates.close();
  assertEquals(logged.filter((line) => line.startsWith("ERROR")), []);
});

fleetTest("a missing key file of a user in publisher_acl is written again", {
  master: { publisher_acl: { nobody: ["test.*"] }, loop_interval: 1 },
}, async (fleet) => {
  const path = `${fleet.masterOpts.cachedir}/.nobody_key`;
  const key = Deno.readTextFileSync(path);
  Deno.removeSync(path);
  await eventually(
    () => fleet.logs.some((line) => line.includes("Put back the key files of nobody, which were gone")),
    {
      what: "the line about it",
    },
  );
  assertEquals(Deno.readTextFileSync(path), key);
});

fleetTest(
  "a master goes on when a user in publisher_acl cannot get access: the file system has no access control lists",
  {
    master: { publisher_acl: { nobody: ["test.*"], daemon: ["test.*"] }, loop_interval: 1 },
  },
  async (fleet) => {
    const { cachedir } = fleet.masterOpts;
    Deno.removeSync(`${cachedir}/.daemon_key`);
    Deno.symlinkSync("/proc/version", `${cachedir}/.daemon_key`);
    Deno.removeSync(`${cachedir}/.nobody_key`);
    const waitForLog = (text: string) =>
      eventually(() => fleet.logs.some((line) => line.includes(text)), { what: text });
    await waitForLog("publisher_acl, external_auth: nobody, daemon cannot get access: setxattr");
    await waitForLog("Put back the key files of nobody, which were gone");
    Deno.renameSync(cachedir, `${cachedir}.away`);
    Deno.writeTextFileSync(cachedir, "in the way");
    try {
      await waitForLog("The users' key files cannot be put back: Not a directory");
    } finally {
      Deno.removeSync(cachedir);
      Deno.renameSync(`${cachedir}.away`, cachedir);
    }
  },
);

const PILLAR = Deno.makeTempDirSync({ prefix: "pillar_roots_" });
globalThis.addEventListener("unload", () => Deno.removeSync(PILLAR, { recursive: true }));

fleetTest("salt-run names custom runners and wheel modules that cannot be loaded, and compiles pillar", {
  minions: ["web1"],
  master: { pillar_roots: { base: [PILLAR] } },
}, async (fleet) => {
  const { extension_modules } = fleet.masterOpts;
  for (const kind of ["runners", "wheel"]) {
    Deno.mkdirSync(`${extension_modules}/${kind}`, { recursive: true });
    Deno.writeTextFileSync(`${extension_modules}/${kind}/broken.js`, "export const = 1;");
  }
  const arg = await fleet.saltRun("broken.fun");
  assertMatch(arg.err, /\[WARNING \] .*broken\.js/);
  const wheel = await fleet.saltRun("salt.wheel", "broken.fun");
  assertMatch(wheel.err, /\[WARNING \] .*wheel\/broken\.js/);
  const shown = await fleet.saltRun("pillar.show_pillar", "web1", "--out=json");
  assertEquals([shown.code, JSON.parse(shown.out)], [0, {}]);
  Deno.writeTextFileSync(`${PILLAR}/top.sls`, "base:\n  'web*': [common, web]\n  db1: [db]\n");
  const top = await fleet.saltRun("pillar.show_top", "web1", "--out=json");
  assertEquals([top.code, JSON.parse(top.out)], [0, { base: { "web*": ["common", "web"], db1: ["db"] } }], top.err);
});
