/**
 * The mine for functions that run on the master itself: `mine.get` in pillar reads as the minion whose pillar it is, in
 * orchestrations and `salt.cmd` as the master, which is no minion.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { NoMasterError } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { answerMineGet } from "#lib/fleet/mine_query.ts";
import { acceptedFleet } from "#lib/fleet/resolve_target.ts";
import { KeyStore } from "#lib/keys/store.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * Answers `_mine_get`.
 * @returns A function that rejects any other request with {@linkcode NoMasterError}.
 */
export function mineRequests(opts: MasterOpts, log: Logger): (load: ValueMap) => Promise<Value> {
  const warn = (text: string) => log.warning(text);
  const data = new DataCache(opts.cachedir, { log: warn });
  const mine = new Mine(opts.cachedir, { maxBytes: opts.mine_max_bytes, log: warn });
  const keys = new KeyStore(opts.pki_dir);
  const fleet = () => acceptedFleet(opts, { keys, data });
  return (load) => {
    if (load.get("cmd") === "_mine_get") return Promise.resolve(answerMineGet(load, { opts, mine, data, fleet, warn }));
    return Promise.reject(new NoMasterError("There is no master to ask: this runs on the master itself"));
  };
}
