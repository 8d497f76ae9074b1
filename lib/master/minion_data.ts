/**
 * The commands of minions about themselves: their events, their pillar, and the master's options that they go by.
 * Source: salt-protocol.md sections 5 and 6.
 * @module
 */

import { StoreError } from "../errors.ts";
import { minionRefresh } from "../protocol/tags.ts";
import { fireEvents } from "./minion_events.ts";
import type { MinionCommands, Needs } from "./services.ts";
import { tellNotBuilt } from "./told_not_built.ts";
import { isMap, map, type Value, type ValueMap } from "../values/value.ts";

/** The commands, by name; `_pillar`, whose answer is sealed, is not one of them. */
export const MINION_COMMANDS: MinionCommands<"jobs" | "minions" | "opts" | "log" | "warn" | "fire"> = {
  _minion_event: fireEvents,
  _master_opts: masterOpts,
};

/** `_pillar`: keeps the minion's grains. @returns Its pillar, which is for it alone: empty, as pillar is not built. */
export function servePillar(
  load: ValueMap,
  id: string,
  { minions: { data }, opts, log, fire, warn }: Needs<"minions" | "opts" | "log" | "fire" | "warn">,
): Value {
  const grains = load.get("grains");
  // Minions of this project know it, and have no functions that show a pillar.
  if (!isMap(grains) || !grains.has("denoversion")) tellNotBuilt(id, "pillar", { warn });
  const pillar: ValueMap = new Map();
  if (opts.minion_data_cache && isMap(grains)) {
    try {
      data.setGrains(id, grains);
      data.setPillar(id, pillar);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.error(`The grains of ${id} are not in the data cache: ${error.message}`);
    }
    if (opts.minion_data_cache_events) void fire(minionRefresh(id), map({ "Minion data cache refresh": id }));
  }
  return pillar;
}

function masterOpts(load: ValueMap, _id: string, { opts }: Needs<"opts">): Value {
  const common = {
    file_roots: { base: [] },
    top_file_merging_strategy: opts.top_file_merging_strategy,
    env_order: opts.env_order,
    default_top: opts.default_top,
  };
  if (load.get("env_only") === true) return map(common);
  return map({
    ...common,
    renderer: opts.renderer,
    failhard: opts.failhard,
    state_top: opts.state_top,
    state_top_saltenv: null,
    nodegroups: opts.nodegroups,
    state_auto_order: true,
    state_events: false,
    state_aggregate: false,
  });
}
