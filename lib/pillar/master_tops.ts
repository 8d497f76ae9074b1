/**
 * `master_tops`: SLS files that other sources than top files assign to a minion. The sources run where pillar is
 * compiled, not in the threads that answer minions. Source: Salt 3008.3 `salt/daemons/masterapi.py` _master_tops.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { PillarHost } from "./host.ts";
import type { PillarRequest } from "./request.ts";
import { isMap, str, typeName, type ValueMap } from "#lib/values/value.ts";

/** SLS files by environment. A source that fails is logged; the others are used. */
export async function masterTops({ id, grains }: PillarRequest, host: PillarHost): Promise<ValueMap> {
  const { values: opts, signal, tops, log } = host;
  const configured = opts.get("master_tops");
  const bySaltenv: ValueMap = new Map();
  for (const [name, setting] of isMap(configured) ? configured : []) {
    const source = await tops.get(`${str(name)}.top`);
    if (source === undefined) {
      const why = tops.problems().get(str(name)) ??
        (tops.notBuilt.has(str(name)) ? "Salt's source of that name is not built" : "there is no such source");
      log("error", `master_tops ${str(name)}: ${why}`);
      continue;
    }
    try {
      const context = { minionId: id, grains, opts, setting, signal, log };
      const answer = await invoke(source, { name: `${str(name)}.top`, args: [], kwargs: new Map(), context });
      if (!isMap(answer)) throw new Error(`it gave ${typeName(answer)} and not dict`);
      for (const [saltenv, names] of answer) bySaltenv.set(saltenv, names);
    } catch (error) {
      log("error", `Top function ${str(name)} failed with error ${messageOf(error)} for minion ${id}`);
    }
  }
  return bySaltenv;
}
