/**
 * Rosters of `salt-ssh` in Python: `targets(tgt, tgt_type)` gives the hosts of a target.
 * Source: Salt 3008.3 `salt/roster/__init__.py`.
 * @module
 */

import { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import { RosterError } from "#lib/errors.ts";
import type { OwnRosters } from "#lib/ssh/rosters.ts";
import { isMap, str, typeName } from "#lib/values/value.ts";
import { MasterCalls, type MasterCallsParts } from "./python_calls.ts";

/** The rosters in Python. */
export function pythonRosters(parts: Omit<MasterCallsParts, "lease">): OwnRosters {
  const lease = new PythonLease(parts.opts, { printed: parts.log.info, keeps: false });
  const calls = new MasterCalls("roster", { ...parts, lease });
  return {
    has: (name) => calls.has(name),
    async targets(name, { tgt, tgtType }) {
      const hosts = await calls.call(`${name}.targets`, {}, [tgt, tgtType]);
      if (hosts === undefined) throw new RosterError(`The roster ${name} has no function targets`);
      if (!isMap(hosts)) throw new RosterError(`The roster ${name} returned no map of hosts, but ${typeName(hosts)}`);
      return new Map([...hosts].map(([id, entry]) => [str(id), entry]));
    },
  };
}
