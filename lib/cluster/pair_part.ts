/**
 * The key pair of a cluster's masters, as one of them follows it: what is in the database comes into its files, and the
 * minions that follow the next pair come from its files into the database.
 * @module
 */

import { fingerprint, samePem } from "#lib/crypto/pem.ts";
import { followersOf } from "#lib/keys/followers.ts";
import type { ClusterContext, ClusterPart } from "./cluster_part.ts";
import { mirrorPairs, pairsOfCluster, removeOldPairs, runningRotation, saveFollowers } from "./pair_rows.ts";

/** Mirrors the pair, and tells who follows. */
export function pairPart({ database, keys, opts, log }: ClusterContext): ClusterPart {
  const { schema, origin } = database;
  let told = new Set<string>(), toldOf = "";
  database.follow("s", async () => {
    const found = await database.read((client) => pairsOfCluster(client, { schema, keys }));
    mirrorPairs(opts, found);
    if (found.pairs.length > 1) await database.write((client) => removeOldPairs(client, schema, found));
    const running = runningRotation(found, Date.now());
    if (running === undefined) return;
    if (!samePem(toldOf, running.next)) {
      log.info(
        `The next key pair of the masters is announced, with the fingerprint ${
          fingerprint(running.next, opts.hash_type)
        }`,
      );
      [told, toldOf] = [new Set(), running.next];
    }
    const ids = [...followersOf(opts.cachedir, running.next)].filter((id) => !told.has(id));
    if (ids.length === 0) return;
    const finger = fingerprint(running.next, "sha256");
    await database.write((client) => saveFollowers(client, { schema, origin }, { ids, finger }));
    for (const id of ids) told.add(id);
  });
  return {};
}
