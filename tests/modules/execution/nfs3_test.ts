import type { Value } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "nfs3");

Deno.test("a word that would be more than one in the file is refused, and a file that cannot be written is named", () =>
  withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    programs.answer("showmount");
    const context = testContext(), exports = `${root}/exports`, text = "/srv *(rw)\n";
    Deno.writeTextFileSync(exports, text);
    const add = (path: string, hosts: string, options: Value, file = exports) =>
      resultOrError(context, "nfs3.add_export", [file, path, hosts, options]);
    for (const path of ["", "/a b", "/a\n/b", '/a"', "/a(", "/#a"]) {
      assertEquals(await add(path, "*", ["rw"]), `Invalid path: ${JSON.stringify(path)}`);
    }
    assertEquals(await add("srv", "*", ["rw"]), 'Invalid path: "srv"');
    for (const hosts of ["", "a b", "a(rw)", "a\nb"]) {
      assertEquals(await add("/srv", hosts, ["rw"]), `Invalid hosts: ${JSON.stringify(hosts)}`);
    }
    for (const option of ["r w", "rw)", ""]) {
      assertEquals(await add("/srv", "*", ["ro", option]), `Invalid option: ${JSON.stringify(option)}`);
    }
    assertEquals(Deno.readTextFileSync(exports), text);
    // A file of the kernel: it can be read, and none can be written beside it.
    assertStringIncludes(String(await add("/srv", "*", ["rw"], "/proc/uptime")), "/proc/uptime");
  }));
