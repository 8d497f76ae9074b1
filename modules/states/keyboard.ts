/**
 * State module `keyboard`: the keyboard's layout, of the console and of X.
 * Source: Salt 3008.3 `salt/states/keyboard.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, truthy } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["keyboard.get_sys"], otherwise: "keyboard module could not be loaded" }],
};

/**
 * A layout, by the functions that read and set it.
 * @param where The beginning of comments.
 * @param failure Its name in comments of a failure.
 */
function layoutState(
  what: string,
  { get, set, where, failure }: {
    readonly get: string;
    readonly set: string;
    readonly where: string;
    readonly failure: string;
  },
): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${what} has this keyboard layout.\n\nname\n    The layout, such as \`us\`.`,
    params: { name: p.str() },
    run: async ({ name }, context) => {
      const result = (comment: string, done: boolean | null = true) => ({ ...startResult(name, done), comment });
      if (await context.call(get) === name) return result(`${where} layout ${name} already set`);
      if (context.test) return result(`${where} layout ${name} needs to be set`, null);
      if (!truthy(await context.call(set, [name]))) return failState(name, `Failed to set ${failure} keyboard layout`);
      return { ...result(`Set ${failure} keyboard layout ${name}`), changes: map({ layout: name }) };
    },
  });
}

export const system: ModuleFunction<StateContext> = layoutState("The console", {
  get: "keyboard.get_sys",
  set: "keyboard.set_sys",
  where: "System",
  failure: "system",
});

export const xorg: ModuleFunction<StateContext> = layoutState("X", {
  get: "keyboard.get_x",
  set: "keyboard.set_x",
  where: "XOrg",
  failure: "XOrg",
});
