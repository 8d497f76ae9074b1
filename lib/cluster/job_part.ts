/**
 * Jobs of this master for the others, and theirs for its Publisher.
 * @module
 */

import { publishPullPath } from "#lib/config/master_paths.ts";
import { messageOf } from "#lib/errors.ts";
import type { Delivery } from "#lib/jobs/redelivery.ts";
import { UndeliveredJobs } from "#lib/jobs/undelivered.ts";
import { readMoment } from "#lib/os/moment.ts";
import { clearInterval, setInterval } from "#lib/os/timers.ts";
import { Outbox } from "#lib/sockets/endpoint.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, str } from "#lib/values/value.ts";
import type { ClusterPublish } from "./cluster_messages.ts";
import type { ClusterContext, ClusterPart } from "./cluster_part.ts";
import { keepEventPartitions } from "./event_partitions.ts";
import { PublishLog } from "./publish_log.ts";

/** Interval in which what is over is removed, in milliseconds. */
const CLEAN_MS = 60_000;

/** What came of a job of this master. */
export type PublishOutcome = "committed" | "away";

/** What it needs of the context. */
type JobPartContext = Pick<ClusterContext, "opts" | "log" | "database" | "keys" | "flags" | "jobSecret">;

/** Exchanges jobs; the holder of the lease `maintenance` removes what is over. */
export function jobPart({ opts, log, database, keys, flags, jobSecret }: JobPartContext): ClusterPart {
  const publisher = Outbox.push({ highWaterMark: 0, lingerMs: 1_000 });
  publisher.connect(`ipc://${publishPullPath(opts.sock_dir)}`);
  const undelivered = new UndeliveredJobs(opts.cachedir, jobSecret);
  const publishes = new PublishLog({
    database,
    keys,
    log,
    pending: () => undelivered.pending(readMoment()),
    async push({ load, minions, ttlMs, live }, again) {
      await publisher.send([encode(map({ load, minions: [...minions], ttl_ms: ttlMs, live, again }), "disk")]);
    },
  });
  publishes.open();
  const clean = async () => {
    if (database.away || !flags.holds("maintenance")) return;
    await publishes.clean();
    await database.read((client) =>
      keepEventPartitions(client, {
        schema: database.schema,
        keepSeconds: opts.event_log_keep,
        nowMs: Date.now(),
      })
    );
  };
  const cleaning = setInterval(() => {
    void clean().catch((error) => {
      // The next time finds what is left.
      if (!(error instanceof DatabaseAwayError)) {
        log.error(`The cluster: what is over is not removed: ${messageOf(error)}`);
      }
    });
  }, CLEAN_MS);
  return {
    handlers: {
      publish: (publish): Promise<PublishOutcome> => publishes.add(deliveryOf(publish)),
      publisherReplaced: () => publishes.takeUpAgain(),
    },
    close() {
      clearInterval(cleaning);
      publisher.close();
      return Promise.resolve();
    },
  };
}

/** @throws {TypeError} If its load is none. */
function deliveryOf({ load: packed, minions, ttlMs, live }: ClusterPublish): Delivery {
  const load = decode(packed, "disk");
  if (!isMap(load)) throw new TypeError("a job for the cluster has no load");
  return { jid: str(load.get("jid") ?? ""), load, minions, ttlMs, live };
}
