/**
 * The publish key of a cluster: a new one is a row of the database, and each master takes the newest.
 * @module
 */

import { readCluster, writeCluster } from "./cluster_cache.ts";
import type { ClusterContext, ClusterPart } from "./cluster_part.ts";
import { makePublishKey, publishKeys, publishKeyText } from "./secret_rows.ts";

/** What the main thread is told when this master has taken a new key. */
export interface KeyTaken {
  readonly keyTaken: { readonly generation: number; readonly madeMs: number };
}

/** Whether a message of the Cluster thread is that. */
export function isKeyTaken(message: unknown): message is KeyTaken {
  return typeof message === "object" && message !== null && "keyTaken" in message;
}

/** Takes new keys, and makes them when this master asks for one. */
export function publishKeyPart(context: ClusterContext): ClusterPart {
  const { database, keys, membership, sharedKey, log, opts, post } = context;
  let known = membership.publish?.generation ?? 0;
  database.follow("s", async () => {
    const found = await database.read((client) => publishKeys(client, database.schema));
    const [newest] = found;
    if (newest === undefined || newest.generation <= known) return;
    sharedKey.set(publishKeyText(keys, newest));
    known = newest.generation;
    const remembered = readCluster(opts.cachedir);
    if (remembered !== undefined) writeCluster(opts.cachedir, { ...remembered, publish: found });
    log.info(`This master publishes with the key of generation ${known}`);
    post({ keyTaken: { generation: known, madeMs: newest.madeMs } } satisfies KeyTaken);
  });
  return {
    handlers: {
      rotate: (reason) => {
        log.info(`A new publish key for the cluster: ${reason}`);
        return database.write(async (client) => {
          const made = await makePublishKey(client, database.schema, keys, known);
          await database.wake(client, "s");
          return made;
        });
      },
    },
  };
}
