/**
 * State module `sysfs`: attributes of the kernel's objects.
 * Source: Salt 3008.3 `salt/states/sysfs.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { equals, isMap, str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["sysfs.attr"], otherwise: "sysfs module could not be loaded" }],
};

/** The chosen value of an attribute that lists its possible values, such as `always [madvise] never`. */
function chosenWord(current: Value): Value {
  return typeof current === "string" ? current.replace(/.*\[|\].*/g, "") : current;
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: "An attribute has this value, until the next boot.\n\nname\n    The path of the attribute below " +
    "`/sys`, such as `kernel/mm/transparent_hugepage/enabled`.\n\nvalue\n    The value.\n\nconfig\n    Has no effect.",
  params: { name: p.str(), value: p.any(), config: p.any(null) },
  run: async ({ name, value }, context) => {
    const current = await context.call("sysfs.read", [name]);
    if (current === false) return failState(name, `SysFS attribute ${name} doesn't exist.`);
    if (isMap(current)) return failState(name, `${name} is not a SysFS attribute.`);
    if (equals(value, chosenWord(current))) {
      return { ...startResult(name), comment: `SysFS attribute ${name} is already set.` };
    }
    if (context.test) return { ...startResult(name, null), comment: `SysFS attribute ${name} set to be changed.` };
    if (!truthy(await context.call("sysfs.write", [name, value]))) {
      return failState(name, `Failed to set ${name} to ${str(value)}`);
    }
    const comment = `Updated SysFS attribute ${name} to ${str(value)}`;
    return { name, result: true, comment, changes: new Map([[name, value]]) };
  },
});
