/**
 * Execution module `ip` for Debian's family where ifupdown manages the network. Where netplan does, Salt has another
 * module, which is not here. Source: the functions of Salt 3008.3 `salt/modules/debian_ip.py`.
 * @module
 */

import { debianIp } from "./_debian_ip.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = {
  name: "ip",
  serves: [
    {
      grains: { os_family: ["Debian"] },
      otherwise: "The debian_ip module could not be loaded: unsupported OS family",
    },
    {
      unlessHost: { programs: ["netplan"], paths: ["/etc/netplan"] },
      otherwise: "The debian_ip module is not loaded: netplan is the active renderer; " +
        "the netplan_ip provider handles the 'ip' virtual instead",
    },
  ],
};

const functions = debianIp();

export const apply_network_settings: ModuleFunction<JobContext> = functions.apply_network_settings;
export const build_bond: ModuleFunction<JobContext> = functions.build_bond;
export const build_interface: ModuleFunction<JobContext> = functions.build_interface;
export const build_network_settings: ModuleFunction<JobContext> = functions.build_network_settings;
export const build_routes: ModuleFunction<JobContext> = functions.build_routes;
export const down: ModuleFunction<JobContext> = functions.down;
export const get_bond: ModuleFunction<JobContext> = functions.get_bond;
export const get_interface: ModuleFunction<JobContext> = functions.get_interface;
export const get_network_settings: ModuleFunction<JobContext> = functions.get_network_settings;
export const get_routes: ModuleFunction<JobContext> = functions.get_routes;
export const up: ModuleFunction<JobContext> = functions.up;
