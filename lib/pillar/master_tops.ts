/**
 * `master_tops`: SLS files that other sources than top files assign to a minion. The sources run where pillar is
 * compiled, not in the threads that answer minions. Source: Salt 3008.3 `salt/daemons/masterapi.py` _master_tops.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import { mergeMaps } from "#lib/values/dict_merge.ts";
import type { PillarHost } from "./host.ts";
import type { PillarRequest } from "./request.ts";
import { compareStrings, isMap, str, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** Salt joins the lists of several sources. */
const MERGING = { strategy: "recurse", renderer: "yaml", mergeLists: true } as const;

/** The configured sources as Salt loads them: own ones first, each kind in the order of its names. */
function inOrder(configured: Value | undefined, builtIn: Readonly<Record<string, unknown>>): [Value, Value][] {
  const isBuiltIn = (name: Value) => Number(Object.hasOwn(builtIn, str(name)));
  return [...isMap(configured) ? configured : []].sort(([a], [b]) =>
    isBuiltIn(a) - isBuiltIn(b) || compareStrings(str(a), str(b))
  );
}

/** SLS files by environment. A source that fails is logged; the others are used. */
export async function masterTops(
  { id, grains, tops: given }: PillarRequest,
  host: PillarHost,
): Promise<ValueMap> {
  const { values: opts, signal, tops, log } = host;
  const minionOpts = new Map([...given ?? [], ["id", id] as const, ["grains", grains] as const]);
  let bySaltenv: ValueMap = new Map();
  await using untilEnd = new AsyncDisposableStack();
  for (const [name, setting] of inOrder(opts.get("master_tops"), tops.table)) {
    const source = await tops.get(`${str(name)}.top`);
    if (source === undefined) {
      const why = tops.problems().get(str(name)) ??
        (tops.notBuilt.has(str(name)) ? "Salt's source of that name is not built" : "there is no such source");
      log("error", `master_tops ${str(name)}: ${why}`);
      continue;
    }
    try {
      const context = { minionId: id, grains, opts, minionOpts, setting, untilEnd, signal, log };
      const answer = await invoke(source, { name: `${str(name)}.top`, args: [], kwargs: new Map(), context });
      if (!isMap(answer)) throw new Error(`it gave ${typeName(answer)} and not dict`);
      bySaltenv = mergeMaps(bySaltenv, answer, MERGING);
    } catch (error) {
      log("error", `Top function ${str(name)} failed with error ${messageOf(error)} for minion ${id}`);
    }
  }
  return bySaltenv;
}
