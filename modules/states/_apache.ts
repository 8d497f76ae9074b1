/**
 * Shared code of the states that switch parts of the Apache web server on and off.
 * Source: Salt 3008.3, `salt/states/apache_site.py`, `apache_module.py` and `apache_conf.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map, truthy } from "#lib/values/value.ts";

/** The states are available where the execution module has this function. */
export function needsApache(fun: string): Virtual {
  return { serves: [{ functions: [`apache.${fun}`], otherwise: "apache module could not be loaded" }] };
}

/** A state that switches something. */
interface Switching {
  /** The subject of its texts: `site`. */
  readonly what: string;
  /** The functions of the execution module that look and that switch. */
  readonly check: string;
  readonly change: string;
  readonly isOn: boolean;
}

/** Declares the state. */
export function switching({ what, check, change, isOn }: Switching): ModuleFunction<StateContext> {
  const word = isOn ? "enabled" : "disabled";
  return stateFn({
    doc: `Make sure that a ${what} of Apache is ${word}.\n\nname\n    The name of the ${what}.`,
    params: { name: p.str() },
    run: async ({ name }, context) => {
      if (truthy(await context.call(`apache.${check}`, [name])) === isOn) {
        return { ...startResult(name), comment: `${name} already ${word}.` };
      }
      const changes = map(isOn ? { old: null, new: name } : { old: name, new: null });
      if (context.test) {
        return { ...startResult(name, null), comment: `Apache ${what} ${name} is set to be ${word}.`, changes };
      }
      const answer = await context.call(`apache.${change}`, [name]);
      const status = isMap(answer) ? answer.get("Status") : answer;
      if (typeof status === "string" && status.includes(word)) return { ...startResult(name), changes };
      const reason = typeof status === "string" ? ` (${status})` : "";
      return failState(name, `Failed to ${isOn ? "enable" : "disable"} ${name} Apache ${what}${reason}`);
    },
  });
}
