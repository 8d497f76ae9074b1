import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "udev");

Deno.test("a line that is no property is left out, and a device of which nothing is told is an error", async () => {
  using programs = new RecordedPrograms();
  programs.answer("udevadm", [
    { args: "info --export --query=all --name=/dev/x", stdout: "P: /devices/x\nunknown\nE: A=1\nE: B\n" },
    { args: "info --export --query=all --name=/dev/none", stdout: "unknown\n" },
  ]);
  const context = testContext();
  assertEquals(await resultOrError(context, "udev.env", ["/dev/x"]), new Map([["A", 1]]));
  assertEquals(await resultOrError(context, "udev.path", ["/dev/x"]), "/devices/x");
  assertEquals(await resultOrError(context, "udev.info", ["/dev/none"]), "udevadm tells nothing of /dev/none");
});
