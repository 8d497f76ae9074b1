/**
 * State module `alias`: aliases of the mail system.
 * Source: Salt 3008.3 `salt/states/alias.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import { map, str, truthy } from "#lib/values/value.ts";

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `An alias has this target.

name
    The local user or address.

target
    Where its mail is delivered: an address, or a list of them.`,
  params: { name: p.str(), target: p.any() },
  async run({ name, target }, context) {
    if (truthy(await context.call("aliases.has_target", [name, target]))) {
      return { ...startResult(name), comment: `Alias ${name} already present` };
    }
    const text = `${name} -> ${str(target)}`;
    if (context.test) return { ...startResult(name, null), comment: `Alias ${text} is set to be added` };
    if (!truthy(await context.call("aliases.set_target", [name, target]))) {
      return { ...startResult(name, false), comment: `Failed to set alias ${text}` };
    }
    return { name, result: true, comment: `Set email alias ${text}`, changes: map({ alias: name }) };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `The alias does not exist.

name
    The alias.`,
  params: { name: p.str() },
  async run({ name }, context) {
    if (!truthy(await context.call("aliases.get_target", [name]))) {
      return { ...startResult(name), comment: `Alias ${name} already absent` };
    }
    if (context.test) return { ...startResult(name, null), comment: `Alias ${name} is set to be removed` };
    if (!truthy(await context.call("aliases.rm_alias", [name]))) {
      return { ...startResult(name, false), comment: `Failed to remove alias ${name}` };
    }
    return { name, result: true, comment: `Removed alias ${name}`, changes: map({ alias: name }) };
  },
});
