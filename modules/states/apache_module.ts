/**
 * State module `apache_module`: modules of the Apache web server that are switched on by links, on Debian's family.
 * Source: Salt 3008.3 `salt/states/apache_module.py`.
 * @module
 */

import { needsApache, switching } from "./_apache.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = needsApache("a2enmod");

const CHECK = "check_mod_enabled";

export const enabled: ModuleFunction<StateContext> = switching({
  what: "module",
  check: CHECK,
  change: "a2enmod",
  isOn: true,
});
export const disabled: ModuleFunction<StateContext> = switching({
  what: "module",
  check: CHECK,
  change: "a2dismod",
  isOn: false,
});
