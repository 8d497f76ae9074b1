import { withReplaced } from "#tests/support/replaced.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "supervisord");

Deno.test("bin_env may be the program itself, and a configuration that cannot be read is an error", async () => {
  using programs = new RecordedPrograms();
  programs.answer("supervisorctl", [{ args: "*", stdout: "done\n" }]);
  const context = testContext();
  const bin_env = `${programs.path}/supervisorctl`;
  assertEquals(await resultOrError(context, "supervisord.update", [], { bin_env, name: "web" }), "done");
  assertEquals(programs.calls(), ["supervisorctl update web"]);
  assertEquals(
    await resultOrError(context, "supervisord.update", [], { bin_env: programs.path }),
    "Could not find a `supervisorctl` binary",
  );
  const options = String(await resultOrError(context, "supervisord.options", ["web"], { conf_file: programs.path }));
  assertEquals(options.startsWith(`Unable to read from ${programs.path}: `), true, options);
  assertEquals(
    await resultOrError(context, "supervisord.options", ["web"], { conf_file: `${programs.path}/none` }),
    "Process 'web' not found",
  );
});

Deno.test("supervisord.options without a configuration in the usual places", async () => {
  await withReplaced(
    Deno,
    { name: "statSync", by: () => gone() },
    () =>
      withReplaced(Deno, { name: "lstatSync", by: () => gone() }, async () => {
        const answer = await resultOrError(testContext(), "supervisord.options", ["web"]);
        assertEquals(answer, "No suitable config file found");
      }),
  );
});

function gone(): never {
  throw new Deno.errors.NotFound("No such file or directory (os error 2)");
}
