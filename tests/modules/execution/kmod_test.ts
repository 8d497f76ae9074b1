import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { listOf } from "#tests/support/calls/host_calls.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "kmod");

const onLinux = { ignore: Deno.build.os !== "linux" };

Deno.test("kmod.available lists the modules below the kernel's directory", onLinux, async () => {
  const result = await listOf("kmod.available");
  const release = Deno.readTextFileSync("/proc/sys/kernel/osrelease").trim();
  const builtin = `/lib/modules/${release}/modules.builtin`;
  const names = lexistsOrThrow(builtin) ? Deno.readTextFileSync(builtin).split("\n").slice(0, -1) : [];
  const first = names.map((path) => path.replace(/^.*\/|\.ko.*$/g, "").replaceAll("-", "_"));
  assertEquals(first.filter((name) => !result.includes(name)), []);
  assertEquals(result, result.toSorted());
});
