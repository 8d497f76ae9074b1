import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "acme");

Deno.test("a name that is no name of a directory is refused", async () => {
  using programs = new RecordedPrograms();
  programs.answer("certbot");
  const context = testContext();
  for (const name of ["", ".", "..", "a/b", "../../x", "a\0"]) {
    for (const fun of ["has", "info", "expires"]) {
      const message = `Invalid name of a certificate: ${JSON.stringify(name)}`;
      assertEquals(await resultOrError(context, `acme.${fun}`, [name]), message);
    }
  }
});

Deno.test("acme.certs lists directories", async () => {
  using programs = new RecordedPrograms();
  programs.answer("certbot");
  assertEquals(Array.isArray(await resultOrError(testContext(), "acme.certs")), true);
});
