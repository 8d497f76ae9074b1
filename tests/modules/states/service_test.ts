/**
 * States of services with a recorded systemctl.
 * @module
 */
import { which } from "#lib/programs/which.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("states", "service");

const GRAINS = map({
  kernel: "Linux",
  os: "Debian",
  os_family: "Debian",
  init: "systemd",
  systemd: { version: "252" },
});
/** Without systemd's directory the states do nothing, as they should. */
const offline = await Deno.stat("/run/systemd/system").then(() => false, () => true);

async function state(fun: string, args: Record<string, unknown>, grains = GRAINS): Promise<[Value, string, Value]> {
  const job = testContext({ grains, catalogue: loadCatalogue({ grains: () => grains }) });
  // This host may not have been booted with systemd.
  const call = async (name: string, list: Value[] = [], kwargs: ValueMap = new Map()): Promise<Value> =>
    name === "service.available" ? true : await callFunction(name, { args: list, kwargs, context: job });
  const result = await callState(`service.${fun}`, args, { job, state: { call } });
  return [result.get("result") ?? null, str(result.get("comment") ?? ""), result.get("changes") ?? null];
}

const STATUS = { args: "status *", stdout: "● x.service\n     Loaded: loaded (/x)\n     Active: active" };

Deno.test({
  name: "if the system was not booted with systemd, services are neither started nor stopped",
  ignore: !offline,
  async fn() {
    using programs = new RecordedPrograms();
    programs.answer("systemctl");
    for (const grains of [GRAINS, map({ kernel: "Linux", os: "Debian", os_family: "Debian", init: "unknown" })]) {
      for (const fun of ["running", "dead"]) {
        const args = { name: "cron", enable: true };
        assertEquals(await state(fun, args, grains), [true, "Running in OFFLINE mode. Nothing to do", map({})]);
      }
    }
    assertEquals(programs.calls(), []);
  },
});

Deno.test("a unit is enabled and masked by systemctl, and a watched change restarts the minion without waiting", async () => {
  using programs = new RecordedPrograms();
  programs.answer("systemctl", [STATUS, { args: "is-enabled off.service", stdout: "disabled", code: 1 }]);
  programs.answer("systemd-run");
  assertEquals(await state("enabled", { name: "cron" }), [
    true,
    "Service cron is already enabled, and is in the desired state",
    map({}),
  ]);
  assertEquals(programs.calls().filter((call) => call.includes(" enable ")), []);
  assertEquals(await state("enabled", { name: "off" }), [
    true,
    "Service off has been enabled, and is in the desired state",
    map({}),
  ]);
  assertEquals(
    programs.calls().find((call) => call.includes(" enable ")),
    `systemd-run --scope ${which("systemctl")} enable off.service`,
  );
  assertEquals((await state("masked", { name: "off" }))[1], "Failed to mask service off");
  programs.calls();
  assertEquals(await state("mod_watch", { name: "salt-minion", sfun: "running" }), [
    true,
    "Service restarted",
    map({ "salt-minion": true }),
  ]);
  assertEquals(
    programs.calls().at(-1),
    `systemd-run --scope ${which("systemctl")} --no-block restart salt-minion.service`,
  );
});
