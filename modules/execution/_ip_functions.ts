/**
 * Shared parts of the modules `ip` of all systems: their functions as a table, up and down, and applying settings.
 * Source: Salt 3008.3, `salt/modules/debian_ip.py`, `salt/modules/rh_ip.py`.
 * @module
 */

import { isYes } from "#lib/host/network/interface_settings.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The functions of a module `ip`. */
export type IpFunctions = Readonly<
  Record<
    | "apply_network_settings"
    | "build_interface"
    | "build_network_settings"
    | "build_routes"
    | "down"
    | "get_interface"
    | "get_network_settings"
    | "get_routes"
    | "up",
    ModuleFunction<JobContext>
  >
>;

/** A function that reads the configuration of one interface. */
export function reading(what: string, name: string, read: (iface: string) => Value): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return ${what}.`, `ip.${name} eth0`),
    permissions: { read: true },
    params: { iface: p.str() },
    run: ({ iface }) => read(iface),
  });
}

/**
 * `ip.up` and `ip.down`.
 * @param run.command What is called for an interface: words, or a line.
 * @param run.never The types of interfaces that another one steers.
 */
export function startOrStop(
  action: "up" | "down",
  run: { readonly command: (iface: string) => Value; readonly never: (type: Value) => boolean },
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `${
        action === "up" ? "Start" : "Shut down"
      } a network interface. Return the program's output; None for an interface that another one controls.`,
      `ip.${action} eth0 eth`,
    ),
    permissions: "all",
    params: { iface: p.str(), iface_type: p.any() },
    run: ({ iface, iface_type }, context) =>
      run.never(iface_type) ? null : context.call("cmd.run", [run.command(iface)]),
  });
}

/**
 * `ip.apply_network_settings`.
 * @param restart Restarts what manages the network.
 * @returns Whether it succeeded.
 */
export function applying(restart: (context: JobContext) => Promise<Value>): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Apply the settings of the network: restart it, unless require_reboot is set, and with apply_hostname set the host's name.",
      "ip.apply_network_settings",
    ),
    permissions: "all",
    params: {},
    varKwargs: "settings",
    async run(_bound, context, { kwargs: settings }) {
      let isNamed: Value = true;
      if (isYes(settings.get("apply_hostname"))) {
        const hostname = settings.get("hostname");
        if (hostname === undefined) {
          context.log("warning", "The name of the host is to be applied, and there is none: `hostname` is missing.");
        }
        isNamed = hostname === undefined ? false : await context.call("network.mod_hostname", [hostname]);
      }
      let restarted: Value = true;
      if (isYes(settings.get("require_reboot"))) {
        context.log("warning", "The settings of the network are in force after a restart of the host.");
      } else restarted = await restart(context);
      return truthy(isNamed) ? restarted : isNamed;
    },
  });
}

/** Whether nothing may be written: the setting `test`. */
export function isTest(settings: ValueMap): boolean {
  return truthy(settings.get("test"));
}

/** Installs a package. */
export async function install(name: string, context: JobContext): Promise<void> {
  await context.call("pkg.install", [name]);
}
