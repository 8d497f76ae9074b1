import { CommandError } from "#lib/errors.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { map, toValue } from "#lib/values/value.ts";
import { SALT_VERSION, VERSION } from "#lib/version.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { withRecordedJobs } from "#tests/support/fleet/recorded_jobs.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("manage.status does not wait for minions that are known to be disconnected", () =>
  withRunnerFixture(async ({ call, root, gone, done, answers }) => {
    Deno.mkdirSync(`${root}/pki/minions`, { recursive: true });
    for (const id of ["web1", "web2", "db1"]) Deno.writeTextFileSync(`${root}/pki/minions/${id}`, "PEM");
    gone.add("web2");
    answers.set("web1", { return: true, retcode: 0 }).set("db1", { return: true, retcode: 0 });
    assertEquals(await call("manage.status"), map({ up: ["db1", "web1"], down: ["web2"] }));
    gone.clear();
    assertEquals(await call("manage.down"), ["web2"]);
    assertEquals(done, ["test.ping[]{} on ['db1', 'web1'] (list)", "test.ping[]{} on '*' (glob)"]);
  }));

Deno.test("manage.key_regen makes minions delete their keys, and deletes all minion keys of the master", () =>
  withRunnerFixture(async ({ call, root, done }) => {
    Deno.mkdirSync(`${root}/pki/minions`, { recursive: true });
    Deno.mkdirSync(`${root}/elsewhere`);
    for (const path of ["pki/master.pem", "pki/minions/web1", "elsewhere/kept"]) {
      Deno.writeTextFileSync(`${root}/${path}`, "x");
    }
    Deno.symlinkSync(`${root}/elsewhere`, `${root}/pki/link`);
    assertStringIncludes(
      String(await call("manage.key_regen")),
      "Restart the Salt\nMaster within the next 60 seconds!!!",
    );
    assertEquals(done, ["saltutil.regen_keys[]{} on '*' (glob)"]);
    assertEquals([...Deno.readDirSync(`${root}/pki`)].map(({ name }) => name), ["minions"]);
    assertEquals([lexistsOrThrow(`${root}/pki/minions/web1`), lexistsOrThrow(`${root}/elsewhere/kept`)], [false, true]);
  }));

Deno.test("unsupported functions of manage report an alternative", () =>
  withRunnerFixture(async ({ call }) => {
    await assertRejects(() => call("manage.safe_accept", ["web1"]), CommandError, "salt-key -a web1");
    await assertRejects(() => call("manage.bootstrap", [], { hosts: "a,b" }), CommandError, "installation.md");
    await assertRejects(() => call("manage.bootstrap_psexec", [], { hosts: "a,b" }), CommandError, "not built");
  }));

Deno.test("manage.status, up and down list the minions by whether they answered", () =>
  withRecordedJobs(async ({ call, answers, done }) => {
    answers.set("web2", { return: true, retcode: 0 }).set("db1", { return: true, retcode: 0 });
    assertEquals(await call("manage.status"), map({ up: ["db1", "web2"], down: ["web1"] }));
    assertEquals(await call("manage.up", [], { timeout: 2 }), ["db1", "web2"]);
    assertEquals(await call("manage.down"), ["web1"]);
    assertEquals(await call("manage.down", [], { removekeys: true, tgt: "web1,web2", tgt_type: "list" }), ["web1"]);
    assertEquals(done, [
      "test.ping on '*' (glob) in 5 s",
      "test.ping on '*' (glob) in 2 s",
      "test.ping on '*' (glob) in 5 s",
      "test.ping on 'web1,web2' (list) in 5 s",
      "salt/key delete web1",
      "forget web1",
      "rotate",
    ]);
  }));

Deno.test("manage.status of an empty target contacts no minion", () =>
  withRecordedJobs(async ({ call, done }) => {
    assertEquals(await call("manage.status", [], { tgt: "nobody*" }), map({ up: [], down: [] }));
    assertEquals(done, []);
  }));

Deno.test("manage.versions sorts minions by the age of their version", () =>
  withRecordedJobs(async ({ call, answers }) => {
    for (
      const [id, version] of [["web1", VERSION], ["web2", "99.1"], ["db1", "0.0.1"], ["py1", SALT_VERSION], [
        "py2",
        "3006.9",
      ]]
    ) {
      answers.set(id, { return: version, retcode: 0 });
    }
    answers.set("gone", { return: "no such function", retcode: 1 });
    const expected = {
      // Those who read it, SaltGUI too, know Salt's numbers alone.
      Master: SALT_VERSION,
      "Minion requires update": { db1: "0.0.1", py2: "3006.9" },
      "Minion offline": { gone: false },
      "Up to date": { py1: SALT_VERSION, web1: VERSION },
      "Minion newer than master": { web2: "99.1" },
    };
    assertEquals(await call("manage.versions"), toValue(expected));
  }));

Deno.test("manage.present and similar functions list connected minions, as Salt does, and contact no minion", () =>
  withRecordedJobs(async ({ call, here, done }) => {
    here.set("db1", "10.0.0.7").set("web2", undefined);
    for (const name of ["present", "joined", "allowed", "alived", "reaped", "list_state"]) {
      assertEquals(await call(`manage.${name}`), ["db1", "web2"]);
      assertEquals(await call(`manage.${name}`, [], { subset: ["web2", "web1"] }), ["web2"]);
      assertEquals(await call(`manage.${name}`, [], { subset: "web2,db1" }), ["db1", "web2"]);
      assertEquals(await call(`manage.${name}`, [], { show_ip: true }), map({ db1: "10.0.0.7", web2: null }));
    }
    for (const name of ["not_present", "not_joined", "not_allowed", "not_alived", "not_reaped", "list_not_state"]) {
      assertEquals(await call(`manage.${name}`), ["web1"]);
      assertEquals(await call(`manage.${name}`, [], { subset: ["db1", "web1"], show_ip: true }), ["web1"]);
      assertEquals(await call(`manage.${name}`, [], { subset: ["db1"] }), []);
      assertEquals(await call(`manage.${name}`, [], { subset: [] }), []);
    }
    assertEquals(done, []);
  }));
