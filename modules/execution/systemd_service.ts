/**
 * Execution module `service` for systemd.
 * Source: the functions of Salt 3008.3 `salt/modules/systemd_service.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { CommandError } from "#lib/errors.ts";
import { requireProgram, runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { statusOf } from "#lib/host/services/service_names.ts";
import * as systemd from "#lib/host/services/systemd.ts";
import { isMap, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "service",
  serves: [{
    grains: { kernel: ["Linux"] },
    programs: ["systemctl"],
    otherwise:
      "The systemd execution module failed to load: only available on Linux systems which have been booted with systemd.",
  }],
};

const ROOT = { root: p.str(null) };
const UNMASK = { unmask: p.bool(false), unmask_runtime: p.bool(false) };

/** Functions that need systemd itself. */
function refuseOffline(name: string): void {
  if (systemd.isOffline()) {
    throw new CommandError(`Cannot run in offline mode. Failed to get information on unit '${name}'`);
  }
}

/** Salt stops and restarts its own minion without waiting: the minion would not see the end. */
function waits(name: string, noBlock: boolean | null): boolean {
  return noBlock ?? /^salt-minion(\.service)?$/.test(name);
}

export const systemctl_reload: ModuleFunction<JobContext> = fn({
  doc: describe("Reload the unit files of systemd.", "service.systemctl_reload"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    await systemd.reloadSystemd(context);
    return true;
  },
});

export const get_running: ModuleFunction<JobContext> = fn({
  doc: describe("Return the running units.", "service.get_running"),
  permissions: "all",
  params: {},
  run: (_bound, context) => systemd.runningUnits(context),
});

function inState(state: "enabled" | "disabled" | "static", what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return the ${what}; with root, those of the system in that directory.`, `service.get_${state}`),
    permissions: "all",
    params: ROOT,
    run: ({ root }, context) => systemd.unitsInState(state, context, root),
  });
}

export const get_enabled: ModuleFunction<JobContext> = inState("enabled", "units that start with the system");
export const get_disabled: ModuleFunction<JobContext> = inState("disabled", "units that do not start with the system");
export const get_static: ModuleFunction<JobContext> = inState(
  "static",
  "units that can be neither enabled nor disabled",
);

export const get_all: ModuleFunction<JobContext> = fn({
  doc: describe("Return all units; with root, those of the system in that directory.", "service.get_all"),
  permissions: "all",
  params: ROOT,
  run: ({ root }) => systemd.allUnits(root),
});

export const available: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a unit exists.", "service.available sshd"),
  permissions: "all",
  params: { name: p.str() },
  run({ name }, context) {
    refuseOffline(name);
    return systemd.isAvailable(name, context);
  },
});

export const missing: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a unit does not exist.", "service.missing sshd"),
  permissions: "all",
  params: { name: p.str() },
  async run({ name }, context) {
    refuseOffline(name);
    return !await systemd.isAvailable(name, context);
  },
});

const MASK = { name: p.str(), runtime: p.bool(false), ...ROOT };

export const unmask_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Unmask a unit; with runtime=True, a mask that lasts until the next boot.",
    "service.unmask foo",
    "service.unmask foo runtime=True",
  ),
  permissions: "all",
  params: MASK,
  run: ({ name, ...how }, context) => systemd.unmask(name, context, how),
});

export const mask: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Mask a unit, so that nothing can start it; with runtime=True, until the next boot.",
    "service.mask foo",
    "service.mask foo runtime=True",
  ),
  permissions: "all",
  params: MASK,
  run: ({ name, ...how }, context) => systemd.mask(name, context, how),
});

export const masked: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a unit is masked.", "service.masked foo", "service.masked foo runtime=True"),
  permissions: "all",
  params: MASK,
  run: ({ name, ...how }, context) => systemd.isMasked(name, context, how),
});

export const start: ModuleFunction<JobContext> = fn({
  doc: describe("Start a unit. no_block=True does not wait for it.", "service.start <service name>"),
  permissions: "all",
  params: { name: p.str(), no_block: p.bool(false), ...UNMASK },
  run: ({ name, no_block, unmask, unmask_runtime }, context) =>
    systemd.actOn("start", name, context, { noBlock: no_block, unmask, unmaskRuntime: unmask_runtime }),
});

export const stop: ModuleFunction<JobContext> = fn({
  doc: describe("Stop a unit. no_block=True does not wait for it.", "service.stop <service name>"),
  permissions: "all",
  params: { name: p.str(), no_block: p.bool(null) },
  run: ({ name, no_block }, context) => systemd.stop(name, context, waits(name, no_block)),
});

export const restart: ModuleFunction<JobContext> = fn({
  doc: describe("Restart a unit. no_block=True does not wait for it.", "service.restart <service name>"),
  permissions: "all",
  params: { name: p.str(), no_block: p.bool(null), ...UNMASK },
  run: ({ name, no_block, unmask, unmask_runtime }, context) =>
    systemd.actOn("restart", name, context, {
      noBlock: waits(name, no_block),
      unmask,
      unmaskRuntime: unmask_runtime,
    }),
});

export const reload_: ModuleFunction<JobContext> = fn({
  doc: describe("Let a unit reload its configuration.", "service.reload <service name>"),
  permissions: "all",
  params: { name: p.str(), no_block: p.bool(false), ...UNMASK },
  run: ({ name, no_block, unmask, unmask_runtime }, context) =>
    systemd.actOn("reload", name, context, { noBlock: no_block, unmask, unmaskRuntime: unmask_runtime }),
});

export const force_reload: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Let a unit reload its configuration, or restart it if it cannot.",
    "service.force_reload <service name>",
  ),
  permissions: "all",
  params: { name: p.str(), no_block: p.bool(true), ...UNMASK },
  run: ({ name, no_block, unmask, unmask_runtime }, context) =>
    systemd.actOn("force-reload", name, context, { noBlock: no_block, unmask, unmaskRuntime: unmask_runtime }),
});

export const status: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a unit is active; for a glob, a map. sig is ignored.",
    "service.status <service name>",
  ),
  permissions: "all",
  params: { name: p.str(), sig: p.any(null) },
  run: ({ name }, context) =>
    statusOf(name, { all: () => systemd.allUnits(), isRunning: (one) => systemd.isActive(one, context) }),
});

export const enable: ModuleFunction<JobContext> = fn({
  doc: describe("Enable a unit: it starts at boot.", "service.enable <service name>"),
  permissions: "all",
  params: { name: p.str(), no_block: p.bool(false), ...UNMASK, ...ROOT },
  varKwargs: "kwargs",
  run: ({ name, no_block, unmask, unmask_runtime, root }, context) =>
    systemd.enable(name, context, { noBlock: no_block, unmask, unmaskRuntime: unmask_runtime, root }),
});

export const disable: ModuleFunction<JobContext> = fn({
  doc: describe("Disable a unit: it does not start at boot.", "service.disable <service name>"),
  permissions: "all",
  params: { name: p.str(), no_block: p.bool(false), ...ROOT },
  varKwargs: "kwargs",
  run: ({ name, no_block, root }, context) => systemd.disable(name, context, { noBlock: no_block, root }),
});

export const enabled: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a unit is enabled.", "service.enabled <service name>"),
  permissions: "all",
  params: { name: p.str(), ...ROOT },
  varKwargs: "kwargs",
  run: ({ name, root }, context) => systemd.isEnabled(name, context, root),
});

export const disabled: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a unit is disabled.", "service.disabled <service name>"),
  permissions: "all",
  params: { name: p.str(), ...ROOT },
  run: async ({ name, root }, context) => !await systemd.isEnabled(name, context, root),
});

export const show: ModuleFunction<JobContext> = fn({
  doc: describe("Return the properties of a unit.", "service.show <service name>"),
  permissions: "all",
  params: { name: p.str(), ...ROOT },
  run: ({ name, root }, context) => systemd.unitProperties(name, context, root),
});

export const execs: ModuleFunction<JobContext> = fn({
  doc: describe("Return the program of each service (ExecStart).", "service.execs"),
  permissions: "all",
  params: ROOT,
  async run({ root }, context) {
    const programs: ValueMap = new Map();
    for (const name of systemd.allUnits(root)) {
      const started = (await systemd.unitProperties(name, context, root)).get("ExecStart");
      if (isMap(started)) programs.set(name, started.get("path") ?? null);
    }
    return programs;
  },
});

export const firstboot: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set locale, keymap, time zone, hostname and machine id of a system before its first boot.",
    "service.firstboot keymap=jp locale=en_US.UTF-8",
  ),
  permissions: "all",
  params: {
    locale: p.str(null),
    locale_message: p.str(null),
    keymap: p.str(null),
    timezone: p.str(null),
    hostname: p.str(null),
    machine_id: p.str(null),
    root: p.str(null),
  },
  async run({ locale, locale_message, keymap, timezone, hostname, machine_id, root }, context) {
    const given = {
      locale,
      "locale-message": locale_message,
      keymap,
      timezone,
      hostname,
      "machine-ID": machine_id,
      root,
    };
    const words = Object.entries(given).flatMap(([name, value]) => value ? [`--${name}`, value] : []);
    if (words.some((word) => word.includes("\n"))) throw new InvocationError("A value has several lines");
    const { retcode, stderr } = await runProgram([requireProgram("systemd-firstboot"), ...words], context);
    if (retcode !== 0) throw new CommandError(`systemd-firstboot error: ${stderr}`);
    return true;
  },
});

export const offline: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether systemd does not run this system, as in a chroot.", "service.offline"),
  permissions: "all",
  params: {},
  run: () => systemd.isOffline(),
});
