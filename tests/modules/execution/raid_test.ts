import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

testRecordedCases("execution", "raid");

Deno.test("a keyword or a device that would be another option of mdadm is refused", async () => {
  using programs = new RecordedPrograms();
  programs.answer("mdadm");
  const context = testContext();
  const create = (devices: string, more: object) =>
    resultOrError(context, "raid.create", ["/dev/md0", "1", devices], { test_mode: true, ...more });
  assertEquals(
    await create("/dev/a,missing", { chunk: 256, force: true }),
    "mdadm -C /dev/md0 -R -v -l 1 --chunk 256 --force -e default -n 2 /dev/a missing",
  );
  for (const name of ["-config", "a b", "chunk=1", "Chunk"]) {
    assertEquals(await create("/dev/a", { [name]: true }), `Invalid option: ${JSON.stringify(name)}`);
  }
  assertEquals(await create("/dev/a", { chunk: "--x" }), 'Invalid chunk: "--x"');
  assertEquals(await create("--config=x", {}), 'Invalid device: "--config=x"');
});
