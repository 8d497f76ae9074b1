/**
 * Events and presence of this master for the others, and theirs for its bus and its commands.
 * @module
 */

import { EventSender } from "#lib/bus/sender.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { eventLogDirectory, readPorts } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { connectedAddresses } from "#lib/fleet/connected_ids.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { readOwnPresence, removePeersPresence } from "#lib/fleet/presence_file.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { sleep } from "#lib/os/sleep.ts";
import { PRESENCE_CHANGE_EVENT } from "#lib/protocol/tags.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import type { ClusterContext, ClusterPart } from "./cluster_part.ts";
import { EventExchange } from "./event_exchange.ts";
import { PresenceExchange } from "./presence_exchange.ts";

/** Pause before another try to begin, in milliseconds. */
const RETRY_MS = 1_000;

/** Exchanges events and presence. */
export function eventPart(
  { opts, log, database, startedMs }: Pick<ClusterContext, "opts" | "log" | "database" | "startedMs">,
): ClusterPart {
  const bus = new EventSender(masterBus(opts.sock_dir).pull), ending = new AbortController();
  const data = new DataCache(opts.cachedir, { log: log.error });
  const presence = new PresenceExchange({
    database,
    cachedir: opts.cachedir,
    log,
    own: () => readOwnPresence(opts.cachedir).present,
    seen: (isKnown) => silentMinions(opts, data, isKnown),
  });
  const exchange = new EventExchange({
    database,
    paths: masterBus(opts.sock_dir),
    logDirectory: eventLogDirectory(opts.cachedir),
    directory: `${opts.cachedir}/cluster`,
    startedMs,
    log,
    fire: (frame) => bus.firePacked(frame),
    onOwn(_event, tag) {
      if (tag === PRESENCE_CHANGE_EVENT) presence.noteOwn();
    },
    onForeign({ master, tag, data }) {
      if (tag === PRESENCE_CHANGE_EVENT) presence.noteForeign(master, data);
    },
  });
  /** Begins, when the database answers. */
  const begin = async () => {
    await presence.open();
    while (!ending.signal.aborted) {
      try {
        return await exchange.open();
      } catch (error) {
        if (!(error instanceof DatabaseAwayError)) log.error(`The cluster: no events yet: ${messageOf(error)}`);
        await sleep(RETRY_MS, ending.signal).catch(() => {}); // the master ends
      }
    }
  };
  const beginning = begin().catch((error) => log.critical(`The cluster: no events: ${messageOf(error)}`));
  return {
    async close() {
      ending.abort();
      await beginning;
      await exchange.close();
      await presence.close();
      removePeersPresence(opts.cachedir);
      bus.close();
    },
  };
}

/** Accepted minions that do not report their presence, and whose address is connected to this master. */
function silentMinions(opts: MasterOpts, data: DataCache, isKnown: (id: string) => boolean): Iterable<string> {
  const port = readPorts(opts.sock_dir)?.publishPort;
  if (port === undefined) return [];
  const { present, gone } = readOwnPresence(opts.cachedir);
  const unknown = new KeyStore(opts.pki_dir).list("accepted")
    .filter((id) => !present.has(id) && !gone.has(id) && !isKnown(id));
  return unknown.length === 0 ? [] : connectedAddresses(data, port, unknown).keys();
}
