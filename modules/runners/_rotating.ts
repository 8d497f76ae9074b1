/**
 * What `cluster.rotate` does: the next key pair of the masters of a cluster, and what is shown of one.
 * @module
 */

import type { OpenCluster } from "#lib/cluster/open_cluster.ts";
import { bringPair, pairsOfCluster, readFollowers, runningRotation } from "#lib/cluster/pair_rows.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { CommandError } from "#lib/errors.ts";
import { followersOf } from "#lib/keys/followers.ts";
import type { KeyStatement } from "#lib/keys/key_statement.ts";
import { type MasterRotation, nextPair, type RotationTimes } from "#lib/keys/master_rotation.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import { lockUntilEnd } from "#lib/stores/transaction.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { map, str, type Value } from "#lib/values/value.ts";

const UNIT_S: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
/** More is a slip of the pen. */
const LONGEST_S = 10 * 366 * 86_400;
/** The announcement comes before the use by this share of the overlap, and a day at most: all sign in within a day. */
const ANNOUNCED_SHARE = 1 / 3, ANNOUNCED_MOST_MS = 86_400_000;

/**
 * The times of a rotation that begins now.
 * @param overlap Seconds, or a number with s, m, h, d or w.
 * @throws {CommandError} If it is no time.
 */
export function rotationTimes(overlap: Value, { keysize }: Pick<MasterOpts, "keysize">, nowMs: number): RotationTimes {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhdw]?)$/.exec(str(overlap)) ?? [];
  const seconds = Number(number) * (UNIT_S[unit] ?? NaN);
  if (!(seconds > 0 && seconds <= LONGEST_S)) {
    throw new CommandError(`overlap must be a time like 90d, 12h or 3600, and is ${str(overlap)}`);
  }
  const overlapMs = seconds * 1000;
  return {
    keysize,
    nowMs,
    notBeforeMs: nowMs + Math.min(overlapMs * ANNOUNCED_SHARE, ANNOUNCED_MOST_MS),
    notAfterMs: nowMs + overlapMs,
  };
}

/** The next pair of a cluster, unless one follows already. */
export async function rotateClusterPair(
  { database, keys }: OpenCluster,
  times: RotationTimes,
): Promise<MasterRotation> {
  const { schema } = database, place = { schema, keys };
  const before = await database.read((client) => pairsOfCluster(client, place));
  const own = before.pairs.at(-1);
  if (own === undefined) throw new CommandError("The cluster has no key pair: start a master of it first");
  const running = runningRotation(before, times.nowMs);
  if (running !== undefined) return { statement: running, isNew: false };
  const { pem, statement } = await nextPair(PrivateKey.fromPem(own), times);
  return await database.write(async (client) => {
    await lockUntilEnd(client, `salt secrets ${schema}`);
    const found = await pairsOfCluster(client, place), last = runningRotation(found, times.nowMs);
    // Repeated after an answer that was lost, it finds its own.
    if (last !== undefined) return { statement: last, isNew: last.next === statement.next };
    await bringPair(client, place, { generation: before.generation + 1, pem, statement });
    await database.wake(client, "s");
    return { statement, isNew: true };
  });
}

/** The minions of a cluster that follow a pair. */
export function clusterFollowers({ database }: OpenCluster, { next }: KeyStatement): Promise<string[]> {
  return database.read((client) => readFollowers(client, database.schema, fingerprint(next, "sha256")));
}

/** What the operator is shown of a rotation. */
export function rotationAnswer(
  { statement: { old, next, notBeforeMs, notAfterMs }, isNew }: MasterRotation,
  { opts, keys, followers }: {
    readonly opts: MasterOpts;
    readonly keys: KeyStore;
    /** Those that other masters have noted. */
    readonly followers: readonly string[];
  },
): Value {
  const follow = new Set([...followersOf(opts.cachedir, next), ...followers]);
  return map({
    started: isNew,
    old: fingerprint(old, opts.hash_type),
    new: fingerprint(next, opts.hash_type),
    not_before: new Date(notBeforeMs).toISOString(),
    not_after: new Date(notAfterMs).toISOString(),
    needs_old: keys.list("accepted").filter((id) => !follow.has(id)),
  });
}
