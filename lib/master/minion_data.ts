/**
 * The commands of minions about themselves: their events, their pillar, and the master's options that they go by.
 * Source: salt-protocol.md sections 5 and 6.
 * @module
 */

import { StoreError } from "../errors.ts";
import { optsValues } from "../config/opts_map.ts";
import { minionRefresh } from "../protocol/tags.ts";
import { fireEvents } from "./minion_events.ts";
import type { MinionCommands, Needs } from "./services.ts";
import { tellNotBuilt } from "./told_not_built.ts";
import { isMap, map, truthy, type Value, type ValueMap } from "../values/value.ts";

/** The commands, by name; `_pillar`, whose answer is sealed, is not one of them. */
export const MINION_COMMANDS: MinionCommands<"jobs" | "minions" | "files" | "opts" | "log" | "warn" | "fire" | "park"> =
  {
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

/** What Salt tells of options that no table lists. */
const MASTER_OPTS: readonly [name: string, without: Value][] = [
  ["renderer", "jinja|yaml"],
  ["failhard", false],
  ["state_top", "top.sls"],
  ["state_top_saltenv", null],
  ["nodegroups", new Map()],
  ["state_auto_order", true],
  ["state_events", false],
  ["state_aggregate", false],
  ["jinja_env", new Map()],
  ["jinja_sls_env", new Map()],
  ["jinja_lstrip_blocks", false],
  ["jinja_trim_blocks", false],
];

/** The master's options that a minion compiles states by. */
async function masterOpts(
  load: ValueMap,
  _id: string,
  { opts, files, park }: Needs<"opts" | "files" | "park">,
): Promise<Value> {
  park();
  const common = {
    file_roots: new Map((await files.envs()).map((saltenv): [Value, Value] => [saltenv, []])),
    top_file_merging_strategy: opts.top_file_merging_strategy,
    env_order: opts.env_order,
    default_top: opts.default_top,
  };
  if (truthy(load.get("env_only"))) return map(common);
  const values = optsValues(opts);
  return new Map<Value, Value>([
    ...map(common),
    ...MASTER_OPTS.map(([name, without]): [Value, Value] => [name, values.get(name) ?? without]),
  ]);
}
