import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "shadow");

Deno.test("use_usermod=True gives chpasswd the hash as one line of its input, and refuses one of more fields", () =>
  withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    programs.answer("chpasswd");
    Deno.mkdirSync(`${root}/etc`);
    Deno.writeTextFileSync(`${root}/etc/shadow`, "fred:$6$a$b:19000::::::\n");
    const context = testContext();
    const set = (name: string, hash: string) =>
      resultOrError(context, "shadow.set_password", [name, hash], { use_usermod: true, root });
    assertEquals(await set("fred", "$6$a$b"), true);
    assertEquals(programs.calls(), [`chpasswd -e -R ${root}`]);
    assertEquals(Deno.readTextFileSync(`${programs.path}/chpasswd.in`), "fred:$6$a$b\n");
    assertEquals(await set("fred", "$6$other"), false);
    programs.calls();
    assertEquals(await set("fred", "x:0"), false);
    assertEquals(await set("fred", "x\nroot"), 'Invalid hash of a password: "x\\nroot"');
    assertEquals(String(await set("fred\nroot", "x")).includes("fred"), true);
    assertEquals(programs.calls(), []);
  }));
