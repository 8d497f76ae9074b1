/**
 * The rows of the masters' key pairs in the database of a cluster: the pair in use, the next one while it follows, and
 * all statements about pairs. Each master mirrors them into its `pki_dir`, and reads them there
 * as one that stands alone.
 * @module
 */

import type { Client } from "pg";
import { type KeyStatement, packStatements, pathOfKeys, readStatements } from "#lib/keys/key_statement.ts";
import { readMasterFiles, settleMasterPair, writeNextPair } from "#lib/keys/master_rotation.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { samePem } from "#lib/crypto/pem.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { ClusterKeys } from "./cluster_secrets.ts";

/** Names of rows, and what they are sealed for. */
const PAIR = "master", STATEMENT = "master_statement";
/** The bank of followers: see followers.ts. */
const FOLLOWERS = "next_master";
/** How long the old pair outlives the overlap, as clocks of masters differ, in milliseconds. */
const CLOCKS_MS = 60_000;

const utf8 = new TextEncoder();

/** The pairs in use, and what was ever said of pairs. */
export interface ClusterPairs {
  /** Private keys as PEM, the oldest first. The last is the newest. */
  readonly pairs: readonly string[];
  /** All statements, the oldest first. */
  readonly statements: readonly KeyStatement[];
  /** The generation of the newest pair. */
  readonly generation: number;
}

/** What rows are read and written with. */
interface PairPlace {
  readonly schema: string;
  readonly keys: Pick<ClusterKeys, "seal" | "open">;
}

/**
 * The pairs; none if no master has brought one.
 * @throws {AuthenticationError} If a row was not sealed by this cluster.
 */
export async function pairsOfCluster(client: Client, { schema, keys }: PairPlace): Promise<ClusterPairs> {
  const { rows } = await client.query<
    { readonly name: string; readonly generation: number; readonly sealed: Uint8Array }
  >(
    `select name, generation, sealed from ${schema}.secrets where name = any($1::text[]) order by generation`,
    [[PAIR, STATEMENT]],
  );
  const opened = (wanted: string) =>
    rows.filter(({ name }) => name === wanted).map(({ sealed }) => keys.open(wanted, new Uint8Array(sealed)));
  return {
    pairs: opened(PAIR).map((bytes) => new TextDecoder().decode(bytes)),
    statements: opened(STATEMENT).flatMap((bytes) => readStatements(decode(bytes, "disk"))),
    generation: rows.findLast(({ name }) => name === PAIR)?.generation ?? 0,
  };
}

/** Brings the first pair, or the next one with its statement. */
export async function bringPair(
  client: Client,
  { schema, keys }: PairPlace,
  made: { readonly generation: number; readonly pem: string; readonly statement?: KeyStatement },
): Promise<void> {
  const put = (name: string, bytes: Uint8Array) =>
    client.query(
      `insert into ${schema}.secrets (name, generation, sealed) values ($1, $2, $3) on conflict do nothing`,
      [
        name,
        made.generation,
        keys.seal(name, bytes),
      ],
    );
  await put(PAIR, utf8.encode(made.pem));
  if (made.statement !== undefined) await put(STATEMENT, encode(packStatements([made.statement]), "disk"));
}

/** The statement of the rotation that goes on, if one does. */
export function runningRotation(
  { statements }: Pick<ClusterPairs, "statements">,
  nowMs: number,
): KeyStatement | undefined {
  const last = statements.at(-1);
  return last !== undefined && nowMs < last.notAfterMs ? last : undefined;
}

/** The private key that a master of the cluster has in `master.pem` now. */
export function presentPair({ pairs, statements }: ClusterPairs, nowMs: number): string | undefined {
  return runningRotation({ statements }, nowMs) === undefined ? pairs.at(-1) : pairs.at(-2) ?? pairs.at(-1);
}

/** Whether a master with this public key belongs to the cluster: it has a present pair, or one that led to it. */
export function isPairOf({ pairs, statements }: ClusterPairs, pem: string): boolean {
  const newest = pairs.at(-1);
  const to = newest && PrivateKey.fromPem(newest).publicKey.pem;
  return to !== undefined && pathOfKeys("master", statements, { from: pem, to }) !== undefined;
}

/**
 * Makes the files of this master what the rows say.
 * @throws {KeyError} If another process changes them.
 */
export function mirrorPairs(opts: Pick<MasterOpts, "pki_dir" | "id">, { pairs, statements }: ClusterPairs): void {
  const newest = pairs.at(-1), last = statements.at(-1);
  if (newest === undefined || last === undefined) return;
  const files = readMasterFiles(opts);
  const isOwn = files.own !== undefined && samePem(files.own.publicKey.pem, last.next);
  const hasNext = isOwn || files.next !== undefined;
  if (!hasNext || files.statements.length !== statements.length) {
    writeNextPair(opts, { pem: hasNext ? undefined : newest, statements });
  }
  settleMasterPair(opts, Date.now());
}

/** Removes the pairs that nobody uses any more. */
export async function removeOldPairs(client: Client, schema: string, found: ClusterPairs): Promise<void> {
  if (runningRotation(found, Date.now() - CLOCKS_MS) !== undefined) return;
  await client.query(`delete from ${schema}.secrets where name = $1 and generation < $2`, [PAIR, found.generation]);
}

/** Notes minions that follow the pair with this fingerprint. Masters do not exchange these unnumbered rows. */
export async function saveFollowers(
  client: Client,
  { schema, origin }: { readonly schema: string; readonly origin: number },
  { ids, finger }: { readonly ids: readonly string[]; readonly finger: string },
): Promise<void> {
  await client.query(
    `insert into ${schema}.bank as b (bank, minion, body, at, origin, seq)
     select $1, x.id, $3::bytea, now(), $4, 0 from unnest($2::text[]) as x(id) order by 2
     on conflict (bank, minion) do update set body = excluded.body, at = excluded.at`,
    [FOLLOWERS, ids, utf8.encode(finger), origin],
  );
}

/** The minions that were noted at any master. */
export async function readFollowers(client: Client, schema: string, finger: string): Promise<string[]> {
  const { rows } = await client.query<{ readonly minion: string }>(
    `select minion from ${schema}.bank where bank = $1 and body = $2`,
    [FOLLOWERS, utf8.encode(finger)],
  );
  return rows.map(({ minion }) => minion);
}
