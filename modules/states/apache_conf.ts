/**
 * State module `apache_conf`: configurations of the Apache web server that links switch on, on Debian's family.
 * Source: Salt 3008.3 `salt/states/apache_conf.py`.
 * @module
 */

import { needsApache, switching } from "./_apache.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";

export const virtual: Virtual = needsApache("a2enconf");

const CHECK = "check_conf_enabled";

export const enabled: ModuleFunction<StateContext> = switching({
  what: "conf",
  check: CHECK,
  change: "a2enconf",
  isOn: true,
});
export const disabled: ModuleFunction<StateContext> = switching({
  what: "conf",
  check: CHECK,
  change: "a2disconf",
  isOn: false,
});
