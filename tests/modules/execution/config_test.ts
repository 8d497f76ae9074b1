import { map } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "config");

Deno.test("config.get warns of a merge strategy that does not exist", async () => {
  const context = testContext({ pillar: map({ a: { b: 1 } }), grains: map({ a: { c: 2 } }) });
  assertEquals(await context.call("config.get", ["a"], map({ merge: "zip" })), map({ b: 1, c: 2 }));
  assertStringIncludes(context.logged.join(), "Unsupported merge strategy 'zip'");
});

Deno.test("config.items returns the options as test.get_opts does", async () => {
  const context = testContext();
  assertEquals(await context.call("config.items"), await context.call("test.get_opts"));
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

Deno.test("config.gather_bootstrap_script says that there is none", async () => {
  const answer = await testContext().call("config.gather_bootstrap_script");
  assertEquals(answer, [false, "config.gather_bootstrap_script is unavailable"]);
});
