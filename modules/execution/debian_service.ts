/**
 * Execution module `service` for Debian without systemd: scripts of System V's init.
 * Source: the functions of Salt 3008.3 `salt/modules/debian_service.py`.
 * @module
 */

import { scriptFunction, scriptStatus, serviceProgram, serviceQuestion } from "./_script_service.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { currentRunlevel, listNamesIn, startedIn } from "#lib/host/services/init_scripts.ts";
import { serviceName } from "#lib/host/services/service_names.ts";

export const virtual: Virtual = {
  name: "service",
  serves: [{
    grains: { os: ["Debian", "Raspbian", "Devuan", "NILinuxRT"] },
    unless: { init: ["systemd"] },
    otherwise: "The debian_service module could not be loaded: unsupported OS family and/or systemd running.",
  }],
};

async function startedServices(context: JobContext): Promise<string[]> {
  return [...new Set(startedIn(await currentRunlevel(context)))].sort();
}

async function all(context: JobContext): Promise<string[]> {
  const scripts = listNamesIn("/etc/init.d").filter((name) => name !== "README");
  return [...new Set([...scripts, ...await startedServices(context)])].sort();
}

async function stoppedServices(context: JobContext): Promise<string[]> {
  const enabled = await startedServices(context);
  return (await all(context)).filter((name) => !enabled.includes(name));
}

function listing(
  what: string,
  name: string,
  list: (context: JobContext) => Promise<string[]>,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return ${what}.`, `service.${name}`),
    permissions: "all",
    params: {},
    run: (_bound, context) => list(context),
  });
}

export const get_enabled: ModuleFunction<JobContext> = listing(
  "the services that the runlevel starts",
  "get_enabled",
  startedServices,
);
export const get_disabled: ModuleFunction<JobContext> = listing(
  "the services that the runlevel does not start",
  "get_disabled",
  stoppedServices,
);
export const get_all: ModuleFunction<JobContext> = listing("all services", "get_all", all);

export const available: ModuleFunction<JobContext> = serviceQuestion("available", {
  question: "there is such a service",
  answer: async (name, context) => (await all(context)).includes(name),
});
export const missing: ModuleFunction<JobContext> = serviceQuestion("missing", {
  question: "there is no such service",
  answer: async (name, context) => !(await all(context)).includes(name),
});
export const enabled: ModuleFunction<JobContext> = serviceQuestion("enabled", {
  question: "the runlevel starts a service",
  answer: async (name, context) => (await startedServices(context)).includes(name),
  more: true,
});
export const disabled: ModuleFunction<JobContext> = serviceQuestion("disabled", {
  question: "the runlevel does not start a service",
  answer: async (name, context) => (await stoppedServices(context)).includes(name),
});

export const start: ModuleFunction<JobContext> = scriptFunction("start", "Start a service.", serviceProgram);
export const stop: ModuleFunction<JobContext> = scriptFunction("stop", "Stop a service.", serviceProgram);
export const restart: ModuleFunction<JobContext> = scriptFunction("restart", "Restart a service.", serviceProgram);
export const reload_: ModuleFunction<JobContext> = scriptFunction(
  "reload",
  "Have a service read its configuration again.",
  serviceProgram,
);
export const force_reload: ModuleFunction<JobContext> = scriptFunction(
  "force-reload",
  "Have a service read its configuration again, or restart it if it cannot.",
  serviceProgram,
);
export const status: ModuleFunction<JobContext> = scriptStatus(all, serviceProgram);

export const enable: ModuleFunction<JobContext> = fn({
  doc: describe("Enable a service in its runlevels. Return whether this succeeded.", "service.enable <service name>"),
  permissions: "all",
  params: { name: p.str() },
  varKwargs: "kwargs",
  async run({ name }, context) {
    const service = serviceName(name);
    // Debian has had no insserv for long; where it is there it comes first, as with Salt.
    if (which("insserv") !== undefined) {
      if ((await runProgram(["insserv", service], context)).retcode !== 0) return false;
    } else if ((await runProgram(["update-rc.d", service, "defaults"], context)).retcode !== 0) return false;
    return (await runProgram(["update-rc.d", service, "enable"], context)).retcode === 0;
  },
});

export const disable: ModuleFunction<JobContext> = fn({
  doc: describe("Disable a service in all runlevels. Return whether this succeeded.", "service.disable <service name>"),
  permissions: "all",
  params: { name: p.str() },
  varKwargs: "kwargs",
  run: async ({ name }, context) =>
    (await runProgram(["update-rc.d", serviceName(name), "disable"], context)).retcode === 0,
});
