/**
 * State module `apache`: configuration files of the Apache web server.
 * Source: Salt 3008.3 `salt/states/apache.py`.
 * @module
 */

import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { writeWithUmask } from "#lib/os/new_files.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { messageOf } from "#lib/errors.ts";
import { map, str } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["apache.config"], otherwise: "apache module could not be loaded" }],
};

export const configfile: ModuleFunction<StateContext> = stateFn({
  doc:
    "Make sure that a file has this configuration.\n\nname\n    The path of the file.\n\nconfig\n    A list of maps. The key `this` is the attribute of " +
    "a section; a section that is a list may have several of one name.",
  params: { name: p.str(), config: p.any() },
  run: async ({ name, config }, context) => {
    const wanted = str(await context.call("apache.config", [name, config], new Map([["edit", false]])));
    const current = readTextFileIfExists(name) ?? "";
    if (wanted.trim() === current.trim()) return { ...startResult(name), comment: "Configuration is up to date." };
    const changes = map({ old: current, new: wanted });
    if (context.test) return { ...startResult(name, null), comment: "Configuration will update.", changes };
    try {
      writeWithUmask(name, `${wanted}\n`);
    } catch (error) {
      context.log("error", `${name}: ${messageOf(error)}`);
      return failState(name, "Failed to create apache configuration.");
    }
    return { ...startResult(name), comment: "Successfully created configuration.", changes };
  },
});
