/**
 * What minions change in their own mines: `_mine`, `_mine_delete`, `_mine_flush`. The caller has authenticated the
 * minion. Unlike Salt's, the answers say whether it was done.
 * Source: Salt 3008.3 `salt/daemons/masterapi.py`.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { isMap, typeName, type Value, type ValueMap } from "#lib/values/value.ts";
import type { MineHost } from "./mine_query.ts";

/** The master as requests that change the mine need it. */
export interface MineRequestHost extends MineHost {
  readonly opts: Pick<MasterOpts, "mine_get" | "minion_data_cache" | "enforce_mine_cache">;
  /** Logs that something could not be stored. */
  error(text: string): void;
}

/** Whether this master keeps a mine. */
export function keepsMine(opts: Pick<MasterOpts, "minion_data_cache" | "enforce_mine_cache">): boolean {
  return opts.minion_data_cache || opts.enforce_mine_cache;
}

/**
 * `_mine`: stores `data`, which is merged into what is there, or with `clear` replaces it.
 * @returns Whether all of it is stored; as in Salt `{}` without data.
 */
export function storeMine(load: ValueMap, id: string, host: MineRequestHost): Value {
  const [data, clear] = [load.get("data"), load.get("clear") ?? false];
  if (data === undefined) return new Map();
  const refuse = (why: string) => {
    host.warn(`The mine of ${id} stays as it was: ${why}`);
    return false;
  };
  if (!isMap(data)) return refuse(`its data are ${typeName(data)}, not a map`);
  // It decides whether values are lost.
  if (typeof clear !== "boolean") return refuse(`clear is ${typeName(clear)}, not a boolean`);
  if (!keepsMine(host.opts)) return false;
  const named = new Map([...data].filter(([name]) => typeof name === "string"));
  const other = [...data.keys()].find((name) => typeof name !== "string");
  if (other !== undefined) host.warn(`The mine of ${id} lacks ${truncateValue(other)}: the name is no text`);
  if (data.size > 0 && named.size === 0) return false;
  return whetherStored(host, () => {
    host.mine.store(id, named, { clear });
    return named.size === data.size;
  });
}

/**
 * `_mine_delete`: removes the value `fun`.
 * @returns Whether the minion has a mine; as in Salt `{}` without a name.
 */
export function deleteFromMine(load: ValueMap, id: string, host: MineRequestHost): Value {
  const fun = load.get("fun");
  if (fun === undefined) return new Map();
  if (!keepsMine(host.opts)) return false;
  return whetherStored(host, () => typeof fun === "string" && host.mine.delete(id, fun));
}

/**
 * `_mine_flush`: removes all values.
 * @returns Whether there were any.
 */
export function flushMine(id: string, host: MineRequestHost): Value {
  return keepsMine(host.opts) && whetherStored(host, () => host.mine.flush(id));
}

/** What `run` returns; False, and a line in the log, if the mine cannot be written. */
function whetherStored(host: MineRequestHost, run: () => boolean): boolean {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    host.error(error.message);
    return false;
  }
}
