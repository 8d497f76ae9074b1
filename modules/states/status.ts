/**
 * State module `status`: states that only look at how the host is.
 * Source: Salt 3008.3 `salt/states/status.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { pythonError } from "#lib/python/errors.ts";
import { parseFloatText } from "#lib/python/parse_number.ts";
import { compare, float, isMap, repr, str, toNumber, truthy, type Value } from "#lib/values/value.ts";

/** Python's `float(value)`. */
function numberOf(value: Value): number {
  const number = toNumber(typeof value === "string" ? parseFloatText(value) : value);
  if (number === undefined) throw pythonError("ValueError", `could not convert string to float: ${repr(value)}`);
  return number;
}

export const loadavg: ModuleFunction<StateContext> = stateFn({
  doc: `The load of the host is within bounds.

name
    Which: \`1-min\`, \`5-min\` or \`15-min\`.

maximum, minimum
    The bounds, as strings.`,
  params: { name: p.str(), maximum: p.any(null), minimum: p.any(null) },
  async run({ name, maximum, minimum }, context) {
    const ret: StateResult = { ...startResult(name, false), data: new Map() };
    const loads = await context.call("status.loadavg");
    const load = isMap(loads) ? loads.get(name) : undefined;
    if (load === undefined) return { ...ret, comment: `Requested load average ${name} not available ` };
    if (truthy(minimum) && truthy(maximum) && compare(minimum, maximum) >= 0) {
      return { ...ret, comment: "Min must be less than max" };
    }
    const now = numberOf(load);
    const text = str(float(now));
    if (truthy(minimum) && now < numberOf(minimum)) {
      return { ...ret, data: load, comment: `Load avg is below minimum of ${str(minimum)} at ${text}` };
    }
    if (truthy(maximum) && now > numberOf(maximum)) {
      return { ...ret, data: load, comment: `Load avg above maximum of ${str(maximum)} at ${text}` };
    }
    return { ...ret, result: true, data: load, comment: "Load avg in acceptable range" };
  },
});

export const process: ModuleFunction<StateContext> = stateFn({
  doc: `A process runs that matches a regular expression.

name
    The expression, as for \`status.pid\`.`,
  params: { name: p.str() },
  async run({ name }, context) {
    const ret: StateResult = { ...startResult(name, false), data: new Map() };
    const pids = await context.call("status.pid", [name]);
    if (!truthy(pids)) return { ...ret, comment: `Process signature "${name}" not found ` };
    return { ...ret, result: true, data: pids, comment: `Process signature "${name}" was found ` };
  },
});
