/**
 * The request for a minion's pillar, which also contains the minion's grains. Source: docs/protocol.md
 * "Pillar"; Salt 3008.3 `salt/pillar/__init__.py` AsyncRemotePillar, RemotePillarMixin.
 * @module
 */

import type { MinionOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import { updateMap } from "#lib/values/dict_update.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The pillar request of a minion with these grains. */
export function pillarRequest(opts: MinionOpts, grains: ValueMap, query: PillarQuery = {}): ValueMap {
  const { override = new Map(), pillarenv = opts.pillarenv, saltenv = opts.saltenv, ext } = query;
  const request = map({
    id: opts.id,
    grains,
    saltenv,
    pillarenv,
    pillar_override: override,
    extra_minion_data: extraMinionData(opts),
    ver: "2",
    cmd: "_pillar",
  });
  if (ext !== undefined && ext !== null) request.set("ext", ext);
  if (query.cleanCache) request.set("clean_cache", true);
  if (query.tops) request.set("tops", true);
  return request;
}

/** The options that `pass_to_ext_pillars` names, by name or by path. */
export function extraMinionData(opts: MinionOpts): ValueMap {
  if (opts.pass_to_ext_pillars.length === 0) return new Map();
  const values = optsValues(opts);
  return opts.pass_to_ext_pillars.reduce<ValueMap>((data, path) => {
    const steps = path.split(":");
    let at: Value | undefined = values;
    for (const step of steps) at = isMap(at) ? at.get(step) : undefined;
    if (at === undefined) return data;
    const [first, ...rest] = steps;
    const inner = rest.reduceRight<Value>((value, step) => new Map([[step, value]]), at);
    return updateMap(data, new Map([[first, inner]]), { mergeLists: true });
  }, new Map());
}
