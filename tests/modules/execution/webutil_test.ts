import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "webutil");

const IGNORED = serverProgram("htpasswd") === undefined;

Deno.test({
  name: `webutil's states and functions with a real htpasswd${IGNORED ? " (skipped: this host has none)" : ""}`,
  ignore: IGNORED,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const htpasswd_file = `${root}/pw`;
      const user = (password: string, more: object = {}, fun = "webutil.user_exists") =>
        callState(fun, { name: "larry", password, htpasswd_file, options: "s", update: true, ...more });
      const results = [await user("-x y'\""), await user("-x y'\""), await user("other"), await user("other")];
      const changed = map({ larry: true });
      assertEquals(results.map((one) => one.get("result")), [true, true, true, true]);
      assertEquals(results.map((one) => one.get("changes")), [changed, new Map(), changed, new Map()]);
      const context = testContext();
      const is = (password: string) => resultOrError(context, "webutil.verify", [htpasswd_file, "larry", password]);
      assertEquals([await is("other"), await is("-x y'\"")], [true, false]);
      const gone = await callState("webutil.user_absent", { name: "larry", htpasswd_file });
      assertEquals([gone.get("result"), gone.get("changes")], [true, changed]);
      assertEquals(Deno.readTextFileSync(htpasswd_file), "");
    }),
});

Deno.test("letters that are no options of htpasswd, and names that would be options, are refused", async () => {
  using programs = new RecordedPrograms();
  programs.answer("htpasswd");
  const context = testContext();
  for (const opts of ["s -c /etc/passwd", "-", "s;id"]) {
    const answer = await resultOrError(context, "webutil.useradd", ["/x", "larry", "pw"], { opts });
    assertEquals(answer, `Invalid options of htpasswd: ${JSON.stringify(opts)}`);
  }
  assertEquals(await resultOrError(context, "webutil.useradd", ["-c", "larry", "pw"]), 'Invalid file: "-c"');
  assertEquals(await resultOrError(context, "webutil.useradd", ["/x", "-D", "pw"]), 'Invalid user: "-D"');
  assertEquals(programs.calls(), []);
});
