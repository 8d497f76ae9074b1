import { CommandError, InvocationError } from "#lib/errors.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { isMap, map, repr, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

const ROOTS = 'file_roots:\n  base: ["/srv/a", "/srv/b"]\nmy_option: {deep: [1, {k: v}]}\n';

Deno.test("config.get finds options of the master, by path and with another delimiter, and unknown options", () =>
  withRunnerFixture(async ({ call }) => {
    assertEquals(await call("config.get", ["file_roots:base"]), ["/srv/a", "/srv/b"]);
    assertEquals(await call("config.get", ["file_roots,base"], { delimiter: "," }), ["/srv/a", "/srv/b"]);
    assertEquals(await call("config.get", ["my_option:deep:k"]), "v");
    assertEquals(await call("config.get", ["id"]), "host_master");
    assertEquals(await call("config.get", ["nope"]), "");
    assertEquals(await call("config.get", ["nope:x"], { default: 5 }), 5);
  }, ROOTS));

Deno.test("event.send fires its data with its tag, without control characters in the tag", () =>
  withRunnerFixture(async ({ call, done }) => {
    assertEquals(await call("event.send", ["my/tag", { foo: "bar" }]), true);
    assertEquals(await call("event.send", ["my/tag"]), true);
    assertEquals(done, ["fire my/tag {'foo': 'bar'}", "fire my/tag {}"]);
    for (const tag of ["", "salt/auth\n\n\x80", "a\0b"]) {
      await assertRejects(() => call("event.send", [tag]), CommandError);
    }
  }));

Deno.test("salt.cmd runs a function on the master's host, salt.execute runs it on minions", () =>
  withRunnerFixture(async ({ call, done, answers }) => {
    assertEquals(
      await call("salt.cmd", ["test.arg", 1, "a=b"], { k: 2, __pub_jid: "x" }),
      "test.arg[1, 'a=b']{'k': 2}",
    );
    assertEquals(await call("salt.cmd", ["test.ping"], { with_pillar: true }), "test.ping[]{} with pillar");
    answers.set("web1", { return: true, retcode: 0 });
    const args = ["web*", "test.arg", [1]];
    assertEquals(await call("salt.execute", args, { tgt_type: "pcre", kwarg: { a: 1 }, b: 2 }), map({ web1: true }));
    assertEquals(done, ["test.arg[1]{'a': 1, 'b': 2} on 'web*' (pcre)"]);
    await assertRejects(() => call("salt.execute", ["*", "test.ping"], { ret: "redis" }), CommandError, "returners");
  }));

Deno.test("error.error fails with the given name and text, and succeeds without them", () =>
  withRunnerFixture(async ({ call }) => {
    assertEquals(await call("error.error"), new Map());
    const error = await assertRejects(() => call("error.error", ["SaltSystemExit", "boom"]), Error, "boom");
    assertEquals(error.name, "SaltSystemExit");
  }));

Deno.test("survey.hash groups minions with the same result, survey.diff shows the differences of the others", () =>
  withRunnerFixture(async ({ call, done, answers }) => {
    answers.set("web2", { return: "a\nb\nc", retcode: 0 });
    answers.set("web1", { return: "a\nb\nc", retcode: 0 });
    answers.set("db1", { return: "a\nB\nc", retcode: 0 });
    const [first, second] = [
      map({ pool: ["web1", "web2"], result: "a\nb\nc" }),
      map({ pool: ["db1"], result: "a\nB\nc" }),
    ];
    assertEquals(await call("survey.hash", ["*", "cmd.run", "cat x"], { survey_sort: "down" }), [first, second]);
    assertEquals(await call("survey.hash", ["*", "cmd.run"], { survey_sort: "up", tgt_type: "list" }), [second, first]);
    assertEquals(done, ["cmd.run['cat x']{} on '*' (compound)", "cmd.run[]{} on '*' (compound)"]);
    done.length = 0;
    await call("survey.diff", ["*", "cmd.run", "cat x"]);
    // The output of Salt 3008.3 for these results.
    assertEquals(
      done.slice(1).map((line) => line.replace(/^print /, "")).join("\n"),
      "minion pool :\n------------\n['web1', 'web2']\npool size :\n----------\n    2\npool result :\n------------\n    a\nb\nc\n\n" +
        "minion pool :\n------------\n['db1']\npool size :\n----------\n    1\n" +
        'differences from "web1" results :\n--------------------------------\n--- web1\n+++ db1\n@@ -2 +2 @@\n-b\n+B\n\n',
    );
    await assertRejects(() => call("survey.hash", ["*"]), InvocationError);
  }));

Deno.test("network.wol sends the magic packet, and rejects invalid hardware and IPv4 addresses", async () => {
  const { default: dgram } = await import("node:dgram");
  const socket = dgram.createSocket("udp4");
  const { promise: received, resolve } = Promise.withResolvers<Uint8Array>();
  socket.on("message", (message: Uint8Array) => resolve(message));
  const port = await new Promise<number>((bound) => socket.bind(0, "127.0.0.1", () => bound(socket.address().port)));
  try {
    await withRunnerFixture(async ({ call, root, done }) => {
      assertEquals(await call("network.wol", ["08-00-27-13-69-77", "127.0.0.1", port]), true);
      const packet = new Uint8Array(await received);
      assertEquals([packet.length, packet.subarray(0, 12).toHex()], [102, "ffffffffffff080027136977"]);
      assertEquals(packet.subarray(96).toHex(), "080027136977");
      for (const mac of ["08:00:27", "zz0027136977", "", "08:00-27:13:69:77"]) {
        await assertRejects(() => call("network.wol", [mac, "127.0.0.1", port]), InvocationError, "MAC");
      }
      for (const address of ["host", "1.2.3", "1.2.3.256", "::1"]) {
        await assertRejects(() => call("network.wol", ["080027136977", address, port]), InvocationError, "IPv4");
      }
      Deno.writeTextFileSync(`${root}/macs`, "080027136977\n\n08:00:27:13:69:78\n");
      assertEquals(await call("network.wollist", [`${root}/macs`, "127.0.0.1", port]), [
        "080027136977",
        "08:00:27:13:69:78",
      ]);
      assertEquals(await call("network.wollist", [`${root}/none`, "127.0.0.1", port]), []);
      assertEquals(done.at(-1), "retcode 1");
    });
  } finally {
    await new Promise<void>((closed) => socket.close(() => closed()));
  }
});

Deno.test("network.wolmatch wakes the interfaces in the cached grains, except the loopback", () =>
  withRunnerFixture(async ({ call, context, root }) => {
    Deno.mkdirSync(`${root}/pki/minions`, { recursive: true });
    for (const id of ["web1", "web2", "db1"]) Deno.writeTextFileSync(`${root}/pki/minions/${id}`, "PEM");
    const hwaddr_interfaces = { lo: "00:00:00:00:00:00", eth0: "08:00:27:13:69:77 " };
    context.data.setGrains("web1", map({ hwaddr_interfaces }));
    context.data.setGrains("db1", map({ hwaddr_interfaces }));
    assertEquals(await call("network.wolmatch", ["web*"], { bcast: "127.0.0.1" }), ["08:00:27:13:69:77"]);
  }));

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

Deno.test("doc.wheel documents every wheel function", () =>
  withRunnerFixture(async ({ call, context }) => {
    const docs = await call("doc.wheel");
    assert(isMap(docs));
    assertEquals(docs.size, (await context.wheel.all()).length);
    for (const [name, doc] of docs as ValueMap) {
      assertStringIncludes(String(doc), `salt-run salt.wheel ${repr(name).slice(1, -1)}`);
    }
  }));
