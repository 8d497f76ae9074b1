/**
 * The commands of minions about themselves: their events, their pillar, their mine, and the master's options that they
 * go by.
 * Source: docs/protocol.md "Commands of minions", docs/protocol.md "Pillar", docs/protocol.md "The mine".
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { minionRefresh } from "#lib/protocol/tags.ts";
import { fireEvents } from "./minion_events.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { hasPillarFiles } from "#lib/pillar/has_files.ts";
import { plainRequest, readPillarRequest } from "#lib/pillar/request.ts";
import { answerMineGet } from "#lib/fleet/mine_query.ts";
import { deleteFromMine, flushMine, type MineRequestHost, storeMine } from "#lib/fleet/mine_requests.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { fleetOf } from "./publish.ts";
import type { PillarServices } from "#lib/pillar/requests.ts";
import type { FileServices, MinionCommands, Needs } from "./services.ts";
import { isMap, map, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The commands, by name; `_pillar`, whose answer is sealed, is not one of them. */
export const MINION_COMMANDS: MinionCommands<
  "auth" | "jobs" | "minions" | "files" | "opts" | "log" | "warn" | "fire" | "park" | "pillars"
> = {
  _minion_event: fireEvents,
  _master_opts: answerMasterOpts,
  _master_tops: serveTops,
  _ext_nodes: serveTops,
  _mine: (load, id, services) => storeMine(load, id, mineHost(services)),
  _mine_get: (load, id, services) => answerMineGet(new Map(load).set("id", id), mineHost(services)),
  _mine_delete: (load, id, services) => deleteFromMine(load, id, mineHost(services)),
  _mine_flush: (_load, id, services) => flushMine(id, mineHost(services)),
};

function mineHost(services: Needs<"auth" | "minions" | "opts" | "log" | "warn">): MineRequestHost {
  const { minions: { mine, data }, opts, log, warn } = services;
  return { mine, data, opts, fleet: () => fleetOf(services), warn, error: (text) => log.error(text) };
}

/**
 * `_pillar`: stores the minion's grains, and compiles its pillar.
 * @returns The pillar, for this minion only, as MessagePack of the wire.
 * @throws {RefusedError} If too many wait for theirs.
 */
export async function servePillar(
  load: ValueMap,
  id: string,
  { minions: { data }, opts, log, fire, pillars }: Needs<"minions" | "opts" | "log" | "fire" | "pillars">,
): Promise<Uint8Array> {
  const request = readPillarRequest(load, id);
  if (opts.minion_data_cache && isMap(load.get("grains"))) {
    try {
      data.setGrains(id, request.grains);
      if (!hasPillarFiles(opts)) data.setPillar(id, new Map());
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      log.error(`The grains of ${id} are not in the data cache: ${error.message}`);
    }
  }
  // A master that has no pillar at all needs no process for it.
  const pillar = hasPillarFiles(opts) || request.ext !== null
    ? await pillars.compile(request)
    : encode(request.override, "wire");
  if (opts.minion_data_cache && opts.minion_data_cache_events) {
    void fire(minionRefresh(id), map({ "Minion data cache refresh": id }));
  }
  return pillar;
}

/** The result of `master_tops` for the requesting minion, whatever id its options name. */
export async function serveTops(
  load: ValueMap,
  id: string,
  { opts, pillars }: Needs<"opts"> & { readonly pillars: Pick<PillarServices, "compile"> },
): Promise<Value> {
  if (!isMap(opts.master_tops) || opts.master_tops.size === 0) return new Map();
  const sent = mapOrEmpty(load.get("opts"));
  const request = plainRequest(id, mapOrEmpty(sent.get("grains")), { tops: sent });
  return decode(await pillars.compile(request), "wire");
}

/** Salt's values for options that no table lists. */
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
export async function answerMasterOpts(
  load: ValueMap,
  _id: string,
  { opts, files, park }: Needs<"opts" | "park"> & { readonly files: Pick<FileServices, "envs"> },
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
