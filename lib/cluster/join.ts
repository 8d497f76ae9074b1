/**
 * How a master becomes a member of its cluster when it starts: it opens the cluster's root with `cluster_secret`, gets
 * or brings the key pair of all masters, and takes its row. With the database away it starts with what it remembers.
 * @module
 */

import type { Client } from "pg";
import { messageOf, PreflightError, StoreError } from "#lib/errors.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { loadOrCreateMasterKey, masterPrivateKey } from "#lib/keys/pair.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { connectDatabase, DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { makeSchema } from "#lib/stores/postgres_schema.ts";
import { inTransaction, lockUntilEnd } from "#lib/stores/transaction.ts";
import { readCluster, type RememberedCluster, type SealedKey, writeCluster } from "./cluster_cache.ts";
import { type ClusterOpts, clusterOpts } from "./cluster_opts.ts";
import type { RootKeys } from "./cluster_secrets.ts";
import type { ClusterIdentity } from "./postgres_cluster.ts";
import { NameTakenError, register } from "./registration.ts";
import { bringPair, isPairOf, mirrorPairs, pairsOfCluster, presentPair } from "./pair_rows.ts";
import {
  makePublishKey,
  openedRoot,
  type OpenRoot,
  publishKeys,
  publishKeyText,
  rootOfCluster,
} from "./secret_rows.ts";

/** A membership, as the threads of a master need it. Survives structured clone. */
export interface ClusterMembership extends ClusterIdentity {
  /** The root of the cluster's keys. */
  readonly root: Uint8Array;
  /** The address that other masters show. */
  readonly address: string;
  /** What it was at its start before this one. */
  readonly last: ClusterIdentity | undefined;
  /** The publish key; `undefined`: none is known, and this master makes one for itself. */
  readonly publish: { readonly generation: number; readonly madeMs: number; readonly text: string } | undefined;
}

/** How long a statement of the start may take, in milliseconds. */
const STATEMENT_MS = 30_000;
/** Time between two looks whether another master of this name lives, in milliseconds. */
const LOOK_MS = 500;
/** From this difference of clocks there is a warning, in milliseconds. */
const MAX_CLOCK_MS = 30_000;

/**
 * Joins the cluster that the options name. Writes the key pair of the cluster to `pki_dir` if that has none.
 * @throws {PreflightError} In one sentence, if this master cannot.
 */
export async function joinCluster(opts: MasterOpts, log: Logger): Promise<ClusterMembership> {
  const cluster = clusterOpts(opts);
  const remembered = rememberedOf(cluster);
  let client: Client;
  try {
    client = await connectDatabase(cluster.place, { statementMs: STATEMENT_MS, onEnd: () => {} });
  } catch (error) {
    if (error instanceof DatabaseAwayError) {
      return startAlone(opts, cluster, { remembered, log, reason: error.message });
    }
    throw error instanceof StoreError ? new PreflightError(error.message, { cause: error }) : error;
  }
  try {
    return await joinBy(client, opts, cluster, { remembered, log });
  } catch (error) {
    throw error instanceof PreflightError ? error : new PreflightError(
      `cluster_id: this master cannot join the cluster ${cluster.id}: ${messageOf(error)}`,
      { cause: error },
    );
  } finally {
    await client.end().catch(() => {}); // what it was for is done
  }
}

interface Start {
  readonly remembered: RememberedCluster | undefined;
  readonly log: Logger;
}

async function joinBy(
  client: Client,
  opts: MasterOpts,
  cluster: ClusterOpts,
  { remembered, log }: Start,
): Promise<ClusterMembership> {
  const { place: { schema }, keepSeconds } = cluster;
  await makeSchema(client, schema, { keepSeconds, nowMs: Date.now() });
  const clockMs = await clockDifference(client);
  if (Math.abs(clockMs) > MAX_CLOCK_MS) {
    log.warning(
      `The clocks of this host and of the database differ by ${Math.round(clockMs / 1000)} s: set them by NTP`,
    );
  }
  const { open, publish } = await inTransaction(client, async () => {
    // Of masters that start at once in an empty database one brings its keys.
    await lockUntilEnd(client, `salt secrets ${schema}`);
    const open = await rootOfCluster(client, schema, cluster);
    await sharePair(client, opts, schema, open.keys);
    let publish = await publishKeys(client, schema);
    if (publish.length === 0) {
      await makePublishKey(client, schema, open.keys, 0);
      publish = await publishKeys(client, schema);
    }
    return { open, publish };
  });
  const address = addressOf(opts);
  const identity = await registerPatiently(client, cluster, { address, last: remembered });
  remember(cluster, { identity, open, publish });
  return {
    ...identity,
    address,
    last: remembered && identityOf(remembered),
    root: open.keys.root,
    publish: newestKey(open.keys, publish),
  };
}

/** Fetches the key pair of the cluster, or brings this master's. */
async function sharePair(client: Client, opts: MasterOpts, schema: string, keys: RootKeys): Promise<void> {
  const found = await pairsOfCluster(client, { schema, keys }), pem = presentPair(found, Date.now());
  const own = masterPrivateKey(opts.pki_dir, opts.id, { permissive: opts.permissive_pki_access });
  if (pem === undefined) {
    const made = own ?? await loadOrCreateMasterKey(opts.pki_dir, opts.keysize, {
      id: opts.id,
      permissive: opts.permissive_pki_access,
    });
    return await bringPair(client, { schema, keys }, { generation: 1, pem: made.pem });
  }
  if (own === undefined) writeFileAtomic(`${opts.pki_dir}/master.pem`, pem, { mode: 0o400, sync: true });
  // A master that was away while the pair was replaced has one that led to the present one.
  if (own === undefined || isPairOf(found, own.publicKey.pem)) return mirrorPairs(opts, found);
  const [here, there] = [own, PrivateKey.fromPem(pem)].map((key) => fingerprint(key.publicKey.pem, opts.hash_type));
  throw new PreflightError(
    `pki_dir: ${opts.pki_dir} has another key pair (${here}) than the cluster ${opts.cluster_id} (${there}): move master.pem and master.pub away, and this master fetches that of the cluster`,
  );
}

/** Takes the row of this master; of one that ended without a word it waits until that counts as gone. */
async function registerPatiently(
  client: Client,
  { place: { schema }, name, leaseMs }: ClusterOpts,
  { address, last }: { readonly address: string; readonly last: ClusterIdentity | undefined },
): Promise<ClusterIdentity> {
  let seen: string | undefined;
  for (;;) {
    try {
      const incarnation = Math.max(Date.now() * 1000, (last?.incarnation ?? 0) + 1);
      return await register(client, schema, { name, address, leaseMs, last, incarnation });
    } catch (error) {
      if (!(error instanceof NameTakenError) || (seen !== undefined && error.seen !== seen)) throw error;
      seen = error.seen;
      await sleep(Math.min(LOOK_MS, error.leftMs + 1));
    }
  }
}

function remember(
  { id, cachedir }: ClusterOpts,
  { identity, open, publish }: {
    readonly identity: ClusterIdentity;
    readonly open: OpenRoot;
    readonly publish: readonly SealedKey[];
  },
): void {
  writeCluster(cachedir, { id, root: open.sealed, ...identity, publish });
}

/** What this master remembers of this cluster, and of no other. */
function rememberedOf({ id, cachedir }: ClusterOpts): RememberedCluster | undefined {
  const remembered = readCluster(cachedir);
  return remembered?.id === id ? remembered : undefined;
}

function startAlone(
  opts: MasterOpts,
  cluster: ClusterOpts,
  { remembered, log, reason }: Start & { readonly reason: string },
): ClusterMembership {
  const pair = masterPrivateKey(opts.pki_dir, opts.id, { permissive: opts.permissive_pki_access });
  if (remembered === undefined || pair === undefined) {
    throw new PreflightError(
      `cluster_id: the first start in the cluster ${cluster.id} needs the database, and ${reason}`,
    );
  }
  const keys = openedRoot(cluster, remembered.root);
  log.warning(`This master starts without the database of its cluster: ${reason}`);
  const incarnation = Math.max(Date.now() * 1000, remembered.incarnation + 1);
  return {
    origin: remembered.origin,
    incarnation,
    address: addressOf(opts),
    last: identityOf(remembered),
    root: keys.root,
    publish: newestKey(keys, remembered.publish),
  };
}

function identityOf({ origin, incarnation }: ClusterIdentity): ClusterIdentity {
  return { origin, incarnation };
}

function newestKey(keys: RootKeys, [newest]: readonly SealedKey[]): ClusterMembership["publish"] {
  return newest && { generation: newest.generation, madeMs: newest.madeMs, text: publishKeyText(keys, newest) };
}

/** The clock of the database minus that of this host, in milliseconds. */
async function clockDifference(client: Client): Promise<number> {
  const beforeMs = Date.now();
  const { rows: [row] } = await client.query<{ readonly ms: string }>(
    `select extract(epoch from clock_timestamp()) * 1000 as ms`,
  );
  return Number(row?.ms ?? beforeMs) - (beforeMs + Date.now()) / 2;
}

/** Where this master listens; of one that listens everywhere the first address of the host. */
function addressOf({ interface: address }: MasterOpts): string {
  if (!["0.0.0.0", "::", ""].includes(address)) return address;
  const isOwn = ({ address }: Deno.NetworkInterfaceInfo) => !/^(127\.|::1$|fe80:)/.test(address);
  return Deno.networkInterfaces().find(isOwn)?.address ?? "127.0.0.1";
}
