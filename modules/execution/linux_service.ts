/**
 * Execution module `service` for systems with only scripts below `/etc/init.d`. Source: the functions of Salt 3008.3
 * `salt/modules/linux_service.py`.
 * @module
 */

import { runScript, scriptFunction, serviceQuestion, type ServiceWords } from "./_script_service.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { listNamesIn } from "#lib/host/services/init_scripts.ts";
import { serviceName } from "#lib/host/services/service_names.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "service",
  serves: [
    {
      unless: {
        os: [
          "RedHat",
          "CentOS",
          "Amazon",
          "ScientificLinux",
          "CloudLinux",
          "Fedora",
          "Gentoo",
          "Ubuntu",
          "Debian",
          "Devuan",
          "ALT",
          "OEL",
          "Linaro",
          "elementary OS",
          "McAfee  OS Server",
          "Raspbian",
          "SUSE",
          "Slackware",
        ],
      },
      otherwise: "Your OS is on the disabled list",
    },
    { grains: { kernel: ["Linux"] }, otherwise: "Non Linux OSes are not supported" },
    { unless: { init: ["systemd"] }, otherwise: "Minion is running systemd" },
    { grains: { init: ["sysvinit", "unknown"] }, otherwise: "Minion is running another init" },
  ],
};

/** Where the scripts are. */
function directory({ grains }: JobContext): string {
  return /^Arch( ARM)?$/.test(str(grains.get("os") ?? "")) ? "/etc/rc.d" : "/etc/init.d";
}

const all = (context: JobContext) => listNamesIn(directory(context));

const script: ServiceWords = (name, action, context) => [`${directory(context)}/${serviceName(name)}`, action];

export const run: ModuleFunction<JobContext> = fn({
  doc: describe("Call a service's script with an action. Return whether it succeeded.", "service.run apache2 reload"),
  permissions: "all",
  params: { name: p.str(), action: p.str() },
  run: ({ name, action }, context) => runScript(name, action, context, script),
});

export const start: ModuleFunction<JobContext> = scriptFunction("start", "Start a service.", script);
export const stop: ModuleFunction<JobContext> = scriptFunction("stop", "Stop a service.", script);
export const restart: ModuleFunction<JobContext> = scriptFunction("restart", "Restart a service.", script);
export const reload_: ModuleFunction<JobContext> = scriptFunction(
  "reload",
  "Have a service read its configuration again.",
  script,
);

export const status: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the pids of the processes that match a service's name, or sig; an empty string if none does; for a glob, a map.",
    "service.status <service name>",
    "service.status <service name> <service signature>",
  ),
  permissions: "all",
  params: { name: p.str(), sig: p.any(null) },
  async run({ name, sig }, context) {
    if (sig !== null && sig !== "") return await context.call("status.pid", [sig]);
    if (!/\*|\?|\[.+\]/.test(name)) return await context.call("status.pid", [name]);
    const matches = compileGlob(name);
    const pids = new Map<Value, Value>();
    for (const one of all(context).filter(matches)) pids.set(one, await context.call("status.pid", [one]));
    return pids;
  },
});

export const available: ModuleFunction<JobContext> = serviceQuestion("available", {
  question: "there is such a service",
  answer: (name, context) => all(context).includes(name),
});
export const missing: ModuleFunction<JobContext> = serviceQuestion("missing", {
  question: "there is no such service",
  answer: (name, context) => !all(context).includes(name),
});

export const get_all: ModuleFunction<JobContext> = fn({
  doc: describe("Return all services.", "service.get_all"),
  permissions: "all",
  params: {},
  run: (_bound, context) => all(context),
});
