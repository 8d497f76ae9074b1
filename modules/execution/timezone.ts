/**
 * Execution module `timezone` for Linux.
 * Source: the functions of Salt 3008.3 `salt/modules/timezone.py`.
 * @module
 */

import { runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { getClock, getZone, isZone, setClock, setZone } from "#lib/host/kernel/time_zone.ts";
import { str } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    grains: { kernel: ["Linux"] },
    otherwise: "The timezone execution module failed to load: it is for Linux.",
  }],
};

function family({ grains }: JobContext): string {
  return str(grains.get("os_family") ?? "");
}

function dateFunction(name: string, format: string, what: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return ${what}.`, `timezone.${name}`),
    permissions: "all",
    params: {},
    run: async (_bound, context) => (await runProgram(["date", format], context)).stdout,
  });
}

export const get_zone: ModuleFunction<JobContext> = fn({
  doc: describe("Return the host's time zone, such as America/Denver.", "timezone.get_zone"),
  permissions: "all",
  params: {},
  run: (_bound, context) => getZone(family(context), context),
});

export const get_zonecode: ModuleFunction<JobContext> = dateFunction(
  "get_zonecode",
  "+%Z",
  "the short name of the host's time zone: MST",
);
export const get_offset: ModuleFunction<JobContext> = dateFunction(
  "get_offset",
  "+%z",
  "the difference of the host's time from UTC: -0700",
);

export const set_zone: ModuleFunction<JobContext> = fn({
  doc: describe("Set the host's time zone. Return True, or what is wrong.", "timezone.set_zone 'America/Denver'"),
  permissions: "all",
  params: { timezone: p.str() },
  run: ({ timezone }, context) => setZone(timezone, family(context), context),
});

export const zone_compare: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the host has a time zone.", "timezone.zone_compare 'America/Denver'"),
  permissions: "all",
  params: { timezone: p.str() },
  run: ({ timezone }, context) => isZone(timezone, family(context), context),
});

export const get_hwclock: ModuleFunction<JobContext> = fn({
  doc: describe("Return the setting of the hardware clock: UTC or localtime.", "timezone.get_hwclock"),
  permissions: "all",
  params: {},
  run: (_bound, context) => getClock(family(context), context),
});

export const set_hwclock: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the hardware clock to UTC or localtime. Return whether this succeeded.",
    "timezone.set_hwclock UTC",
  ),
  permissions: "all",
  params: { clock: p.str() },
  run: ({ clock }, context) => setClock(clock, family(context), context),
});
