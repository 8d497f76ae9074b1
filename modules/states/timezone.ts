/**
 * State module `timezone`: the zone of the host, and whether its clock has UTC.
 * Source: Salt 3008.3 `salt/states/timezone.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { str, truthy } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["timezone.get_zone"], otherwise: "timezone module could not be loaded" }],
};

export const system: ModuleFunction<StateContext> = stateFn({
  doc: `The host has this time zone.

name
    The zone, such as \`Europe/Berlin\`.

utc : True
    Whether the hardware clock is set to UTC.`,
  params: { name: p.str(), utc: p.any(true) },
  run: async ({ name, utc: given }, context) => {
    const utc = truthy(given);
    let isZone: boolean;
    try {
      isZone = truthy(await context.call("timezone.zone_compare", [name]));
    } catch (error) {
      if (!(error instanceof CommandError) && !(error instanceof InvocationError)) throw error;
      return failState(name, `Unable to compare desired timezone '${name}' to system timezone: ${error.message}`);
    }
    const isUtc = await context.call("timezone.get_hwclock") !== "localtime";
    const setsUtc = utc && !isUtc;
    if (isZone && !setsUtc) {
      const clock = utc ? `, UTC already set to ${name}` : "";
      return { ...startResult(name), comment: `Timezone ${name} already set${clock}` };
    }
    if (context.test) {
      const lines = isZone ? [] : [`Timezone ${name} needs to be set`];
      if (setsUtc) lines.push(`UTC needs to be set to ${str(given)}`);
      return { ...startResult(name, null), comment: lines.join(", ") };
    }
    const ret = startResult(name, null);
    const lines: string[] = [];
    if (!isZone) {
      ret.result = truthy(await context.call("timezone.set_zone", [name]));
      if (ret.result) ret.changes.set("timezone", name);
      lines.push(ret.result ? `Set timezone ${name}` : "Failed to set timezone");
    }
    if (setsUtc) {
      const done = truthy(await context.call("timezone.set_hwclock", ["UTC"]));
      if (done) ret.changes.set("utc", given);
      lines.push(done ? `Set UTC to ${str(given)}` : `Failed to set UTC to ${str(given)}`);
      ret.result = done;
    }
    return { ...ret, comment: lines.join(", ") };
  },
});
