/**
 * Execution module `service` for OpenRC: Alpine, and Gentoo without systemd.
 * Source: the functions of Salt 3006 `salt/modules/gentoo_service.py`, which Salt 3008 has given away.
 * @module
 */

import { scriptFunction, scriptStatus, serviceQuestion } from "./_script_service.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { disableIn, enableIn, serviceRunlevels } from "#lib/host/services/openrc.ts";
import { asList } from "#lib/values/shape.ts";
import { str, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  name: "service",
  serves: [{
    grains: [{ os: ["Gentoo"] }, { os: ["Alpine"] }],
    unless: { init: ["systemd"] },
    otherwise: "The gentoo_service execution module cannot be loaded: only available on Gentoo/Open-RC systems.",
  }],
};

/** The keyword `runlevels`: one, or a list. */
function chosenRunlevels(kwargs: ValueMap): string[] | undefined {
  const given = kwargs.get("runlevels");
  return given === undefined ? undefined : asList(given).map(str);
}

async function enabledServices(context: JobContext): Promise<Map<string, string[]>> {
  return new Map([...await serviceRunlevels(context)].filter(([, levels]) => levels.length > 0));
}

export const get_enabled: ModuleFunction<JobContext> = fn({
  doc: describe("Return the services that start with the system, with their runlevels.", "service.get_enabled"),
  permissions: "all",
  params: {},
  run: (_bound, context) => enabledServices(context),
});

export const get_disabled: ModuleFunction<JobContext> = fn({
  doc: describe("Return the services that are in no runlevel.", "service.get_disabled"),
  permissions: "all",
  params: {},
  run: async (_bound, context) =>
    [...await serviceRunlevels(context)].filter(([, levels]) => levels.length === 0).map(([name]) => name).sort(),
});

export const get_all: ModuleFunction<JobContext> = fn({
  doc: describe("Return all services with their runlevels.", "service.get_all"),
  permissions: "all",
  params: {},
  run: (_bound, context) => serviceRunlevels(context),
});

export const available: ModuleFunction<JobContext> = serviceQuestion("available", {
  question: "there is such a service",
  answer: async (name, context) => (await serviceRunlevels(context)).has(name),
});
export const missing: ModuleFunction<JobContext> = serviceQuestion("missing", {
  question: "there is no such service",
  answer: async (name, context) => !(await serviceRunlevels(context)).has(name),
});
export const disabled: ModuleFunction<JobContext> = serviceQuestion("disabled", {
  question: "a service is in no runlevel",
  answer: async (name, context) => (await serviceRunlevels(context)).get(name)?.length === 0,
});

export const start: ModuleFunction<JobContext> = scriptFunction("start", "Start a service.");
export const stop: ModuleFunction<JobContext> = scriptFunction("stop", "Stop a service.");
export const restart: ModuleFunction<JobContext> = scriptFunction("restart", "Restart a service.");
export const reload_: ModuleFunction<JobContext> = scriptFunction(
  "reload",
  "Have a service read its configuration again.",
);
export const zap: ModuleFunction<JobContext> = scriptFunction("zap", "Have OpenRC take a service for stopped.");
export const status: ModuleFunction<JobContext> = scriptStatus(async (context) => [
  ...(await serviceRunlevels(context)).keys(),
]);

const SWITCH = { permissions: "all", params: { name: p.str() }, varKwargs: "kwargs" } as const;

export const enable: ModuleFunction<JobContext> = fn({
  ...SWITCH,
  doc: describe(
    "Enable a service: in the default runlevel, or in exactly those of `runlevels`.",
    "service.enable <service name> <runlevels=single-runlevel>",
    "service.enable <service name> <runlevels=[runlevel1,runlevel2]>",
  ),
  run: ({ name }, context, { kwargs }) => enableIn(name, chosenRunlevels(kwargs), context),
});

export const disable: ModuleFunction<JobContext> = fn({
  ...SWITCH,
  doc: describe(
    "Disable a service: in all runlevels, or in those of `runlevels`.",
    "service.disable <service name> <runlevels=single-runlevel>",
    "service.disable <service name> <runlevels=[runlevel1,runlevel2]>",
  ),
  run: ({ name }, context, { kwargs }) => disableIn(name, chosenRunlevels(kwargs), context),
});

export const enabled: ModuleFunction<JobContext> = fn({
  ...SWITCH,
  doc: describe(
    "Return whether a service starts with the system, or in all those runlevels.",
    "service.enabled <service name> <runlevels=single-runlevel>",
    "service.enabled <service name> <runlevels=[runlevel1,runlevel2]>",
  ),
  async run({ name }, context, { kwargs }) {
    const levels = (await enabledServices(context)).get(name);
    return levels !== undefined && (chosenRunlevels(kwargs) ?? []).every((level) => levels.includes(level));
  },
});
