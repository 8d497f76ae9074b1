import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "sysctl");

Deno.test("sysctl.persist writes to the file that systemd reads, or to sysctl.conf", async () => {
  const file = (grains: Record<string, unknown>) => testContext({ grains: map(grains) }).call("sysctl.default_config");
  assertEquals(await file({ init: "systemd", systemd: { version: "252" } }), "/etc/sysctl.d/99-salt.conf");
  assertEquals(await file({ init: "systemd", systemd: { version: "206" } }), "/etc/sysctl.conf");
  assertEquals(await file({ init: "sysvinit" }), "/etc/sysctl.conf");
});
