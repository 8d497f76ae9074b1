/**
 * Execution module `ip` for the Red Hat family where its scripts describe the network. Where NetworkManager alone does,
 * Salt has another module, which is not here. Source: the functions of Salt 3008.3 `salt/modules/rh_ip.py`.
 * @module
 */

import { rhIp } from "./_rh_ip.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

const OTHERWISE =
  "The rh_ip execution module cannot be loaded: this module is only available on RHEL/Fedora based distributions.";

export const virtual: Virtual = {
  name: "ip",
  serves: [
    { grains: { os_family: ["RedHat"] }, otherwise: OTHERWISE },
    { unless: { os: ["Amazon"], osmajorrelease: ["1"] }, otherwise: OTHERWISE },
    {
      unlessHost: { programs: ["nmcli"], paths: ["/run/NetworkManager"], without: ["ifup", "ifdown"] },
      otherwise:
        "NetworkManager manages the network, and there are no ifup and ifdown: Salt's module nm_ip is not built in",
    },
  ],
};

const functions = rhIp();

export const apply_network_settings: ModuleFunction<JobContext> = functions.apply_network_settings;
export const build_interface: ModuleFunction<JobContext> = functions.build_interface;
export const build_network_settings: ModuleFunction<JobContext> = functions.build_network_settings;
export const build_routes: ModuleFunction<JobContext> = functions.build_routes;
export const down: ModuleFunction<JobContext> = functions.down;
export const get_interface: ModuleFunction<JobContext> = functions.get_interface;
export const get_network_settings: ModuleFunction<JobContext> = functions.get_network_settings;
export const get_routes: ModuleFunction<JobContext> = functions.get_routes;
export const up: ModuleFunction<JobContext> = functions.up;
