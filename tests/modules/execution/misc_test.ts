import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PEM = "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC KEY-----\n";

Deno.test("key.finger and key.finger_master are fingerprints of the files in pki_dir, empty without them", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root });
    const context = testContext({ opts });
    assertEquals(await context.call("key.finger"), "");
    await Deno.mkdir(opts.pki_dir, { recursive: true });
    await Deno.writeTextFile(`${opts.pki_dir}/minion.pub`, PEM);
    await Deno.writeTextFile(`${opts.pki_dir}/minion_master.pub`, `${PEM}\n`);
    assertEquals(await context.call("key.finger"), fingerprint(PEM, "sha256"));
    assertEquals(await context.call("key.finger", ["md5"]), fingerprint(PEM, "md5"));
    assertEquals(await context.call("key.finger_master"), fingerprint(`${PEM}\n`, "sha256"));
  }));

/** A context whose master records its requests, and acknowledges them if the answer is None. */
function withMaster(
  more: Partial<JobContext> = {},
  answer: Value = null,
): { context: ReturnType<typeof testContext>; loads: ValueMap[] } {
  const loads: ValueMap[] = [];
  const { outside } = testContext();
  const request = (load: ValueMap): Promise<Value> => {
    loads.push(load);
    return Promise.resolve(answer);
  };
  return { context: testContext({ outside: { ...outside, request }, ...more }), loads };
}

Deno.test("event.fire fires on the minion's own bus, and requires a map", async () => {
  const context = testContext();
  assertEquals(await context.call("event.fire", [map({ a: 1 }), "my/tag"]), true);
  assertEquals(context.fired, [{ tag: "my/tag", data: map({ a: 1 }) }]);
  assertStringIncludes(String((await run("event.fire", ["x", "t"])).return), "argument 'data' must be a dict");
});

Deno.test("event.fire_master sends Salt's _minion_event, with the fields of preload", async () => {
  const { context, loads } = withMaster();
  assertEquals(await context.call("event.fire_master", [map({ a: 1 }), "my/tag"]), true);
  await context.call("event.fire_master", ["text", "t"], map({ preload: { id: "other", extra: 1 } }));
  assertEquals(loads, [
    map({ id: "web1", tag: "my/tag", data: { a: 1 }, cmd: "_minion_event" }),
    map({ id: "other", tag: "t", data: "text", cmd: "_minion_event", extra: 1 }),
  ]);
});

Deno.test("event.fire_master and event.send return False and log it if the master failed, also a Python master", async () => {
  for (const answer of ["", false, new Map(), map({ error: "no room" })]) {
    const { context } = withMaster({}, answer);
    assertEquals(await context.call("event.fire_master", [map({}), "t"]), false);
    assertEquals(await context.call("event.send", ["t"]), false);
    assertEquals(context.logged.length, 2);
  }
});

Deno.test("event.fire_master returns False without a master, and logs the reason", async () => {
  const context = testContext();
  assertEquals(await context.call("event.fire_master", [map({}), "t"]), false);
  const local = testContext({ opts: testOpts({ file_client: "local" }) });
  assertEquals(await local.call("event.fire_master", [map({}), "t"]), false);
  assertEquals([context.logged.length, local.logged.length], [1, 1]);
});

Deno.test("event.send collects its data: keywords, grains, pillar, options, and last the argument data", async () => {
  const { context, loads } = withMaster({ grains: map({ os: "Debian", host: "web1" }), pillar: map({ p: 1, q: 2 }) });
  const kwargs = map({
    data: { foo: "data" },
    foo: "kw",
    bar: 1,
    with_grains: ["os"],
    with_pillar: true,
    with_env_opts: true,
  });
  assertEquals(await context.call("event.send", ["my/tag"], kwargs), true);
  const expected = {
    grains: { os: "Debian" },
    pillar: { p: 1, q: 2 },
    saltenv: "base",
    pillarenv: null,
    foo: "data",
    bar: 1,
  };
  assertEquals(loads.map((load) => [load.get("tag"), load.get("data")]), [["my/tag", map(expected)]]);
});

Deno.test("event.send accepts names of environment variables, and True for all", async () => {
  Deno.env.set("MODULES_MISC_TEST", "here");
  const { context, loads } = withMaster();
  await context.call("event.send", ["t"], map({ with_env: ["MODULES_MISC_TEST"] }));
  await context.call("event.send", ["t"], map({ with_env: true }));
  Deno.env.delete("MODULES_MISC_TEST");
  assertEquals(loads[0].get("data"), map({ environ: { MODULES_MISC_TEST: "here" } }));
  const data = loads[1].get("data");
  assert(isMap(data));
  const environ = data.get("environ");
  assert(isMap(environ) && environ.has("PATH") && environ.get("MODULES_MISC_TEST") === "here");
});

Deno.test("event.send without a master fires on the minion's own bus", async () => {
  const context = testContext({ opts: testOpts({ file_client: "local" }) });
  assertEquals(await context.call("event.send", ["my/tag", map({ a: 1 })]), true);
  assertEquals(context.fired, [{ tag: "my/tag", data: map({ a: 1 }) }]);
});

Deno.test("config.get warns of a merge strategy that does not exist", async () => {
  const context = testContext({ pillar: map({ a: { b: 1 } }), grains: map({ a: { c: 2 } }) });
  assertEquals(await context.call("config.get", ["a"], map({ merge: "zip" })), map({ b: 1, c: 2 }));
  assertStringIncludes(context.logged.join(), "Unsupported merge strategy 'zip'");
});

Deno.test("config.items returns the options as test.get_opts does", async () => {
  const context = testContext();
  assertEquals(await context.call("config.items"), await context.call("test.get_opts"));
});

Deno.test("match.pcre returns False for an invalid pattern, and logs the reason", async () => {
  const context = testContext();
  assertEquals(await context.call("match.pcre", ["("]), false);
  assertEquals(context.logged.length, 1);
});

Deno.test("grains.item rejects a delimiter that is not a text", async () => {
  assertStringIncludes(
    String((await run("grains.item", ["os", "delimiter=[1]"])).return),
    "ERROR executing 'grains.item'",
  );
});

Deno.test("config.get finds grains and pillar among the options, as Salt does, and the address of the master", async () => {
  const opts = testOpts({ master: "master.example.com", master_port: 4507 });
  const context = testContext({ opts, grains: map({ os: "Debian" }), pillar: map({ role: "web" }) });
  assertEquals(await context.call("config.get", ["grains:os"]), "Debian");
  assertEquals(await context.call("config.get", ["pillar:role"]), "web");
  assertEquals(await context.call("config.get", ["master_uri"]), "tcp://master.example.com:4507");
  const local = testContext({ opts: testOpts({ file_client: "local" }) });
  assertEquals(await local.call("config.get", ["master_uri"]), "");
});

Deno.test("CVE-2021-3197: an option of ssh programs is not accepted as a host, and nothing is started", async () => {
  using programs = new RecordedPrograms();
  programs.answer("ssh-keyscan");
  const context = testContext();
  for (const host of ["-oProxyCommand=touch /tmp/x", "-f/etc/shadow", "--", "a\nb", ""]) {
    for (const fun of ["ssh.recv_known_host_entries", "ssh.check_known_host"]) {
      const args = fun === "ssh.recv_known_host_entries" ? [host] : ["root", host];
      const result = await run(fun, args, context);
      assert(fun !== "ssh.recv_known_host_entries" || String(result.return).includes("host name"), `${fun} ${host}`);
    }
  }
  assertEquals(programs.calls().filter((line) => line.startsWith("ssh-keyscan")), []);
  await run("ssh.recv_known_host_entries", ["example.org"], context);
  assertEquals(programs.calls()[0], "ssh-keyscan -H -T 5 example.org");
});
