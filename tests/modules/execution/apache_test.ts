import { which } from "#lib/programs/which.ts";
import { invoke } from "#lib/plugins/call.ts";
import { a2dismod, a2dissite, a2enmod, a2ensite } from "#modules/execution/deb_apache.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "apache");

Deno.test("apache.server_status reads the page of the profile; without one it is an error, as in Salt", async () => {
  const asked: (string | null)[][] = [];
  const text = "Total Accesses: 12\nCPULoad: .5\nServerVersion: Apache: 2\nEmpty:\nno colon\nScoreboard: __W.x\n";
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    asked.push([pathname + search, request.headers.get("authorization")]);
    return pathname === "/status" ? new Response(text) : new Response("no", { status: 403 });
  });
  const at = (path: string, more: object = {}) => map({ url: `http://127.0.0.1:${server.addr.port}${path}`, ...more });
  const profiles = {
    default: at("/status"),
    login: at("/status", { user: "fred", pass: "pw" }),
    denied: at("/none"),
    down: map({ url: "http://127.0.0.1:1/" }),
  };
  const context = testContext({ opts: testOpts({ "apache.server-status": map(profiles) }) });
  const status = (...args: Value[]) => resultOrError(context, "apache.server_status", args);
  const told = await status();
  const score = { _: 2, S: 0, R: 0, W: 1, K: 0, D: 0, C: 0, L: 0, G: 0, I: 0, ".": 1, x: 1 };
  assertEquals(
    told,
    map({ Scoreboard: score, "Total Accesses": 12, CPULoad: 0.5, ServerVersion: "Apache: 2", Empty: "" }),
  );
  assertEquals([await status("login"), await status("denied"), await status("down")], [told, "error", "error"]);
  assertEquals(asked, [["/status?auto", null], ["/status?auto", "Basic ZnJlZDpwdw=="], ["/none?auto", null]]);
});

Deno.test("apache: no version, and what is no configuration", async () => {
  using programs = new RecordedPrograms();
  programs.answer("apachectl", [{ args: "-v", stdout: "broken\n" }]);
  const context = testContext();
  assertEquals(await resultOrError(context, "apache.version"), "apachectl tells no version: broken");
  const config = (value: Value) =>
    resultOrError(context, "apache.config", [`${programs.path}/conf`, value], { edit: false });
  for (const value of [["Listen 80"], [map({})]]) assertEquals(await config(value), "config is a list of maps");
  // Salt writes nothing for what is neither text, list nor map.
  assertEquals(await config([map({ Listen: 80 }), map({ Listen: "81" })]), "\nListen 81");
});

Deno.test({
  name: "apache.a2ensite and the like: a program that is not there is the answer, as in Salt",
  ignore: which("a2ensite") !== undefined,
  async fn() {
    for (const [program, fun] of Object.entries({ a2ensite, a2dissite, a2enmod, a2dismod })) {
      const answer = await invoke(fun, { name: program, args: ["own"], kwargs: new Map(), context: testContext() });
      assertStringIncludes(String(answer), `reason: [Errno 2] No such file or directory: '${program}'`);
    }
  },
});
