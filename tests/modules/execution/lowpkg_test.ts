import { map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms, recordingContext } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "lowpkg");

Deno.test("lowpkg.diff compares a file with the one in a package, and requires the programs for it", async () => {
  using programs = new RecordedPrograms();
  for (const name of ["rpm2cpio", "cpio", "diff"]) programs.answer(name);
  const { words, context } = recordingContext(() => "Binary files differ");
  const grains = map({ os: "AlmaLinux", os_family: "RedHat", kernel: "Linux" });
  const job = testContext({ ...context, grains });
  const { diff } = await import("#modules/execution/rpm_lowpkg.ts");
  const args = { package_path: "/it's.rpm", path: "/etc/hosts" };
  const rest = { args: [], kwargs: new Map<Value, Value>() };
  const result = await diff.run({ ...args }, job, rest);
  assertEquals(result, "File '/etc/hosts' is binary and its content has been modified.");
  assertEquals(
    words.at(-1)?.at(-1),
    `rpm2cpio '/it'"'"'s.rpm' | cpio -i --quiet --to-stdout ./etc/hosts | ` +
      "diff -u --label 'A /etc/hosts' --from-file=- --label 'B /etc/hosts' /etc/hosts",
  );
});
