import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "incron");

Deno.test("a job that would be another line of the table is refused", async () => {
  using programs = new RecordedPrograms();
  programs.answer("incrontab");
  const context = testContext();
  const set = (path: string, cmd: string) => resultOrError(context, "incron.set_job", ["root", path, "IN_MODIFY", cmd]);
  for (const path of ["", "a b", "/a\n/b", "#a"]) {
    assertEquals(await set(path, "echo"), `Invalid path: ${JSON.stringify(path)}`);
  }
  for (const cmd of ["", " ", "a\nb", "a\rb"]) {
    assertEquals(await set("/a", cmd), `Invalid command: ${JSON.stringify(cmd)}`);
  }
  assertEquals(programs.calls(), []);
});
