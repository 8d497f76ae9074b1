import { scopeWords } from "#lib/host/packages/scope.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

const SYSTEMD = { init: "systemd", systemd: { version: "252" } };

Deno.test("package managers run in a systemd scope, unless systemd is missing or an option disables it", () => {
  using programs = new RecordedPrograms();
  programs.answer("systemd-run");
  const words = (grains: Record<string, unknown>, pillar: Record<string, unknown> = {}, opts = {}) =>
    scopeWords(testContext({ grains: map(grains), pillar: map(pillar), opts: testOpts(opts) }));
  assertEquals(words(SYSTEMD), ["systemd-run", "--scope"]);
  assertEquals(words({ init: "sysvinit", systemd: { version: "252" } }), []);
  assertEquals(words({ init: "systemd", systemd: { version: "204" } }), []);
  assertEquals(words(SYSTEMD, {}, { "systemd.scope": false }), []);
  assertEquals(words({ ...SYSTEMD, "systemd.scope": false }), []);
  assertEquals(words(SYSTEMD, { "systemd.scope": false }), []);
  assertEquals(words(SYSTEMD, { "systemd.scope": false }, { "systemd.scope": true }), ["systemd-run", "--scope"]);
  const described = scopeWords(testContext({ grains: map(SYSTEMD) }), "apt");
  assertEquals(described, ["systemd-run", "--scope", "--description", "apt"]);
});
