import { exists } from "#lib/os/file_kind.ts";
import { withReplaced } from "#tests/support/replaced.ts";
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

Deno.test("the table of the system that cannot be read or written is an error with its name", async () => {
  const table = "/etc/incron.d/salt";
  const context = testContext();
  const set = () => resultOrError(context, "incron.set_job", ["system", "/a", "IN_MODIFY", "echo"]);
  const denied = () => {
    throw new Deno.errors.PermissionDenied("Permission denied (os error 13)");
  };
  await withReplaced(Deno, { name: "readFileSync", by: denied }, async () => {
    assertEquals(await set(), `[Errno 13] Permission denied: '${table}'`);
  });
  // Its directory is looked for, and is away before the file is written.
  const real = Deno.statSync;
  const statSync = (path: string | URL) => real(path === "/etc/incron.d/" ? "/etc" : path);
  if (exists("/etc/incron.d")) return;
  await withReplaced(Deno, { name: "statSync", by: statSync }, async () => {
    assertEquals(await set(), `[Errno 2] No such file or directory: '${table}'`);
  });
});
