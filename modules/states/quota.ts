/**
 * State module `quota`: whether users or groups have quotas on a file system.
 * Source: Salt 3008.3 `salt/states/quota.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["setquota"], otherwise: "quota module could not be loaded" }],
};

export const mode: ModuleFunction<StateContext> = stateFn({
  doc: `Quotas of a file system are on or off.

name
    The mount point.

mode
    Whether they are on: \`on\` or \`off\`.

quotatype
    \`user\` or \`group\`: the quotas to check. Both kinds are turned on and off.`,
  params: { name: p.str(), mode: p.bool(), quotatype: p.str() },
  run: async ({ name, mode: wanted, quotatype }, context) => {
    const word = wanted ? "on" : "off";
    const modes = await context.call("quota.get_mode", [name]);
    const quotas = isMap(modes) ? modes.get(name) : undefined;
    const now = isMap(quotas) ? quotas.get(quotatype) : undefined;
    if (now === undefined) return failState(name, `There are no quotas of type ${quotatype} on ${name}`);
    if (now === word) return { ...startResult(name), comment: `Quota for ${name} already set to ${word}` };
    if (context.test) return { ...startResult(name, null), comment: `Quota for ${name} needs to be set to ${word}` };
    // Always True, even after a failure.
    await context.call(`quota.${word}`, [name]);
    return { ...startResult(name), comment: `Set quota for ${name} to ${word}`, changes: map({ quota: name }) };
  },
});
