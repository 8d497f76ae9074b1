/**
 * State module `locale`: the locale of the host, and locales that are generated.
 * Source: Salt 3008.3 `salt/states/locale.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, truthy } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["locale.get_locale"], otherwise: "'locale.get_locale' is not available." }],
};

export const system: ModuleFunction<StateContext> = stateFn({
  doc: "The host has this locale.\n\nname\n    The locale, such as `de_DE.UTF-8`.",
  params: { name: p.str() },
  run: async ({ name }, context) => {
    try {
      if (await context.call("locale.get_locale") === name) {
        return { ...startResult(name), comment: `System locale ${name} already set` };
      }
      if (context.test) return { ...startResult(name, null), comment: `System locale ${name} needs to be set` };
      if (!truthy(await context.call("locale.set_locale", [name]))) {
        return failState(name, `Failed to set system locale to ${name}`);
      }
      return { name, result: true, comment: `Set system locale ${name}`, changes: map({ locale: name }) };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return failState(name, `Failed to set system locale: ${error.message}`);
    }
  },
});

export const present: ModuleFunction<StateContext> = stateFn({
  doc: "A locale is generated.\n\nname\n    The locale, such as `de_DE.UTF-8`.",
  params: { name: p.str() },
  run: async ({ name }, context) => {
    if (truthy(await context.call("locale.avail", [name]))) {
      return { ...startResult(name), comment: `Locale ${name} is already present` };
    }
    if (context.test) return { ...startResult(name, null), comment: `Locale ${name} needs to be generated` };
    if (!truthy(await context.call("locale.gen_locale", [name]))) {
      return failState(name, `Failed to generate locale ${name}`);
    }
    return { name, result: true, comment: `Generated locale ${name}`, changes: map({ locale: name }) };
  },
});
