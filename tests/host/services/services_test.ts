/**
 * Services with a recorded systemctl, rc-update and update-rc.d: the calls, and the results of their answers.
 * @module
 */
import * as output from "#lib/host/services/systemctl_output.ts";
import { parseRunlevels } from "#lib/host/services/openrc.ts";
import { startedIn } from "#lib/host/services/init_scripts.ts";
import * as systemd from "#lib/host/services/systemd.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const SYSTEMD = map({ kernel: "Linux", os: "Ubuntu", systemd: { version: "252" } });
const ALPINE = map({ kernel: "Linux", os: "Alpine", init: "unknown" });
const DEVUAN = map({ kernel: "Linux", os: "Devuan", init: "sysvinit" });

function service(grains = SYSTEMD) {
  const context = testContext({ grains, catalogue: loadCatalogue({ grains: () => grains }) });
  return async (name: string, ...args: unknown[]): Promise<Value> =>
    (await run(`service.${name}`, args.map(toValue), context)).return;
}

const STATUS = { args: "status *", stdout: "● x.service\n     Loaded: loaded (/x)\n     Active: active", code: 0 };

Deno.test("units are started, stopped, enabled and queried by systemctl", async () => {
  using programs = new RecordedPrograms();
  programs.answer("systemctl", [
    STATUS,
    { args: "start bad.service", stderr: "Running scope as unit: run-1.scope\nJob for bad.service failed.\n", code: 1 },
    { args: "is-active off.service", stdout: "inactive", code: 3 },
    { args: "is-enabled off.service", stdout: "disabled", code: 1 },
    { args: "is-enabled alias.service", stdout: "alias" },
    { args: "show alias.service -P Id", stdout: "real.service" },
    { args: "stop off.service", code: 5 },
  ]);
  const call = service();
  const path = `${programs.path}/systemctl`;
  assertEquals(await call("start", "cron"), true);
  assertEquals(programs.calls(), ["systemctl status cron.service -n 0", "systemctl start cron.service"], path);
  assertEquals(await call("start", "bad"), "ERROR: Job for bad.service failed.");
  assertEquals([await call("stop", "cron"), await call("stop", "off")], [true, false]);
  programs.calls();
  assertEquals(await call("restart", "salt-minion"), true);
  assertEquals(programs.calls().at(-1), "systemctl --no-block restart salt-minion.service");
  assertEquals(await call("reload", "a.timer", true), true);
  assertEquals(programs.calls().at(-1), "systemctl --no-block reload a.timer");
  assertEquals([await call("status", "cron"), await call("status", "off")], [true, false]);
  assertEquals([await call("enabled", "cron"), await call("enabled", "off"), await call("enabled", "alias")], [
    true,
    false,
    true,
  ]);
  assertEquals(programs.calls().at(-1), "systemctl is-enabled real.service");
  assertEquals(await call("enable", "cron", map({ __kwarg__: true, root: "/nonexistent" })), true);
  assertEquals(programs.calls().at(-1), "systemctl --root /nonexistent enable cron.service");
  for (const name of ["-H evil", "../x", "a\nb", ""]) {
    for (const fun of ["start", "stop", "enable", "status", "show", "enabled"]) {
      assertStringIncludes(String(await call(fun, name)), "Invalid service name", `${fun} ${name}`);
    }
  }
  assertEquals(programs.calls(), []);
});

Deno.test("a unit whose file has changed is reloaded first", async () => {
  using programs = new RecordedPrograms();
  const stdout = "Warning: The unit file changed on disk. Run 'systemctl daemon-reload' to reload units.";
  programs.answer("systemctl", [{ args: "status *", stdout }]);
  await service()("start", "cron");
  assertEquals(programs.calls(), [
    "systemctl status cron.service -n 0",
    "systemctl --system daemon-reload",
    "systemctl start cron.service",
  ]);
});

Deno.test("units are masked and unmasked, in a root directory too", async () => {
  using programs = new RecordedPrograms();
  programs.answer("systemctl", [STATUS]);
  const root = Deno.makeTempDirSync({ prefix: "units_" });
  try {
    Deno.mkdirSync(`${root}/etc/systemd/system`, { recursive: true });
    Deno.symlinkSync("/dev/null", `${root}/etc/systemd/system/off.service`);
    const context = testContext({ grains: SYSTEMD });
    const how = { runtime: false, root };
    assertEquals(await systemd.isMasked("off", context, how), true);
    assertEquals(await systemd.isMasked("on", context, how), false);
    assertEquals(await systemd.unmask("off", context, how), true);
    assertEquals(programs.calls().at(-1), `systemctl --root ${root} unmask off.service`);
    assertEquals(await systemd.mask("on", context, { ...how, runtime: true }), true);
    assertEquals(programs.calls().at(-1), `systemctl --root ${root} mask --runtime on.service`);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("the existence of a unit is the return code of a new systemctl, and the output of an old one", async () => {
  using programs = new RecordedPrograms();
  programs.answer("systemctl", [{
    args: "status gone.service*",
    stderr: "Unit gone.service could not be found.",
    code: 4,
  }, STATUS]);
  for (const version of ["252", "219"]) {
    const context = testContext({ grains: map({ kernel: "Linux", systemd: { version } }) });
    assertEquals(await systemd.isAvailable("cron", context), true);
    assertEquals(await systemd.isAvailable("gone", context), false);
  }
  programs.answer("systemctl", [{ args: "status *", stdout: "nothing" }]);
  const old = testContext({ grains: map({ kernel: "Linux", systemd: { version: "219" } }) });
  await assertRejects(() => systemd.isAvailable("cron", old), Error, "Failed to get information on unit 'cron'");
});

Deno.test("the list of systemctl becomes names of services, and names of other units with their types", () => {
  const units = "cron.service loaded active running Cron\nssh.socket loaded active running ssh\n" +
    "old.service loaded active exited Old\nx.slice loaded active running slice\n\n";
  assertEquals(output.parseRunning(units), ["cron", "ssh.socket"]);
  const files =
    "cron.service enabled enabled\ngetty@.service enabled enabled\nx.slice enabled -\noff.service disabled enabled\nmid.timer static -\n";
  assertEquals(["enabled", "disabled", "static"].map((state) => output.parseUnitFiles(files, state)), [
    ["cron", "getty@"],
    ["off"],
    ["mid.timer"],
  ]);
  assertEquals(
    output.parseProperties(
      "Id=cron.service\nAfter=a b\nExecStart={ path=/usr/sbin/cron ; argv[]=/usr/sbin/cron -f }\nEnv=A=1\nEmpty=",
    ),
    map({
      Id: "cron.service",
      After: ["a", "b"],
      ExecStart: { path: "/usr/sbin/cron", "argv[]": "/usr/sbin/cron -f" },
      Env: "A=1",
      Empty: "",
    }),
  );
});

Deno.test("services of OpenRC are listed, enabled and disabled by rc-update", async () => {
  using programs = new RecordedPrograms();
  const stdout =
    "             acpid |                                 \n           chronyd |      default nonetwork               \n";
  programs.answer("rc-update", [{ args: "-v show", stdout }]);
  assertEquals([...parseRunlevels(stdout)], [["acpid", []], ["chronyd", ["default", "nonetwork"]]]);
  const call = service(ALPINE);
  assertEquals(await call("get_enabled"), map({ chronyd: ["default", "nonetwork"] }));
  assertEquals(await call("get_disabled"), ["acpid"]);
  assertEquals([await call("available", "acpid"), await call("missing", "acpid"), await call("disabled", "acpid")], [
    true,
    false,
    true,
  ]);
  programs.calls();
  assertEquals(await call("enable", "acpid"), true);
  assertEquals(await call("enable", "chronyd", map({ __kwarg__: true, runlevels: ["boot", "default"] })), true);
  assertEquals(await call("disable", "chronyd", map({ __kwarg__: true, runlevels: "boot" })), true);
  assertEquals(programs.calls(), [
    "rc-update add acpid",
    "rc-update -v show",
    "rc-update delete chronyd nonetwork",
    "rc-update add chronyd boot",
    "rc-update -v show",
  ]);
});

Deno.test("Devuan's services are enabled and disabled by update-rc.d", async () => {
  using programs = new RecordedPrograms();
  programs.answer("update-rc.d");
  programs.answer("insserv");
  const call = service(DEVUAN);
  assertEquals(await call("enable", "cron"), true);
  assertEquals(await call("disable", "cron"), true);
  assertEquals(programs.calls(), ["insserv cron", "update-rc.d cron enable", "update-rc.d cron disable"]);
  programs.answer("service", [{ args: "off status", code: 3 }]);
  assertEquals([await call("status", "cron"), await call("status", "off"), await call("restart", "cron")], [
    true,
    false,
    true,
  ]);
  assertEquals(programs.calls(), ["service cron status", "service off status", "service cron restart"]);
});

Deno.test("the links of a runlevel name the services that it starts", () =>
  withTemporaryDirectory((root) => {
    for (const link of ["rc2.d/S01cron", "rc2.d/K01nfs", "rcS.d/S05udev", "rc3.d/S01x"]) {
      Deno.mkdirSync(`${root}/etc/${link.split("/")[0]}`, { recursive: true });
      Deno.writeTextFileSync(`${root}/etc/${link}`, "");
    }
    assertEquals(startedIn("2", root), ["cron", "udev"]);
  }));
