/**
 * State module `sysctl`: parameters of the kernel.
 * Source: Salt 3008.3 `salt/states/sysctl.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["sysctl.show"], otherwise: "sysctl module could not be loaded" }],
};

/** The comment of test mode for a parameter; `undefined` if it has the value. */
async function prediction(
  { name, value, config }: { readonly name: string; readonly value: Value; readonly config: string },
  context: StateContext,
): Promise<string | undefined> {
  const configured = await context.call("sysctl.show", [], map({ config_file: config }));
  const wanted = str(value);
  if (configured === null) {
    return `Sysctl option ${name} might be changed, we failed to check config file at ${config}. The file is either ` +
      "unreadable, or missing.";
  }
  const isConfigured = isMap(configured) && configured.has(name);
  const current = str(await context.call("sysctl.get", [name]));
  if (current === "") {
    if (!isConfigured) return `Sysctl option ${name} would be changed to ${wanted}`;
    return `Sysctl value ${name} is present in configuration file but is not present in the running config. ` +
      `The value ${name} is set to be changed to ${wanted}`;
  }
  if (isConfigured) {
    return words(wanted) === words(current) ? undefined : `Sysctl option ${name} would be changed to ${wanted}`;
  }
  if (joinSpaces(current) !== joinSpaces(wanted)) return `Sysctl option ${name} set to be changed to ${wanted}`;
  return "Sysctl value is currently set on the running system but not in a config file. Sysctl option " +
    `${name} set to be changed to ${wanted} in config file.`;
}

function words(value: string): string {
  return value.trim().split(/\s+/).join(" ");
}

function joinSpaces(value: string): string {
  return value.replace(/ +|\t+/g, " ");
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A kernel parameter has this value, now and at each boot.

name
    The parameter, such as \`net.ipv4.ip_forward\`.

value
    Its value.

config
    The file for the setting. Default: that of sysctl.default_config.`,
  params: { name: p.str(), value: p.any(), config: p.str(null) },
  run: async ({ name, value, config: given }, context) => {
    const config = given ?? await defaultConfig(context);
    const already = `Sysctl value ${name} = ${str(value)} is already set`;
    if (context.test) {
      const would = await prediction({ name, value, config }, context);
      return { ...startResult(name, would === undefined ? true : null), comment: would ?? already };
    }
    try {
      const update = await context.call("sysctl.persist", [name, value, config]);
      if (update === "Already set") return { ...startResult(name), comment: already };
      if (update !== "Updated") return startResult(name);
      const comment = `Updated sysctl value ${name} = ${str(value)}`;
      return { name, result: true, comment, changes: map({ [name]: value }) };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return failState(name, `Failed to set ${name} to ${str(value)}: ${error.message}`);
    }
  },
});

async function defaultConfig(context: StateContext): Promise<string> {
  const fun = "sysctl.default_config";
  return await context.catalogue.get(fun) === undefined ? "/etc/sysctl.conf" : str(await context.call(fun));
}
