/**
 * State module `xml`: texts of elements in files of XML.
 * Source: Salt 3006.28 `salt/states/xml.py`, which Salt 3008 has no longer.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { map, str, truthy } from "#lib/values/value.ts";

export const value_present: ModuleFunction<StateContext> = stateFn({
  doc: `The first element that a path selects has this text.

name
    The path of the file.

xpath
    Which element, as Python's ElementTree takes it: \`.//playwright[@id='1']\`.

value
    The text.`,
  params: { name: p.str(), xpath: p.str(), value: p.any() },
  async run({ name, xpath, value }, context) {
    const old = await context.call("xml.get_value", [name, xpath]);
    if (!truthy(old)) return failState(name, `xpath query ${xpath} not found in ${name}`);
    const wanted = str(value);
    if (old === wanted) return { ...startResult(name), comment: `${wanted} is already present` };
    const changes = map({ [name]: { old, new: value } });
    if (context.test) return { ...startResult(name, null), comment: `${name} will be updated`, changes };
    const done = await context.call("xml.set_value", [name, xpath, value]);
    return { ...startResult(name, done === true), comment: `${name} updated`, changes };
  },
});
