/**
 * The rows of secrets in the database: the root of the cluster, and the publish keys. Key pairs: pair_rows.ts.
 * @module
 */

import type { Client } from "pg";
import { AuthenticationError, PreflightError } from "#lib/errors.ts";
import { generateKeyString } from "#lib/crypto/crypticle.ts";
import type { SealedKey } from "./cluster_cache.ts";
import { type ClusterSecret, makeRoot, openRoot, RootKeys } from "./cluster_secrets.ts";

/** Names of secrets; that of the root ends in the cluster's. */
const ROOT = "root:", PUBLISH = "publish";
/** How many publish keys count. */
const KEPT_KEYS = 2;

const utf8 = new TextEncoder();

/** The root of a cluster, opened, and as it is stored. */
export interface OpenRoot {
  readonly keys: RootKeys;
  readonly sealed: Uint8Array;
}

/**
 * The root of the cluster; a new one in an empty database. In a transaction in which other masters that start wait.
 * @throws {PreflightError} If the database belongs to another cluster, or the secret is another.
 */
export async function rootOfCluster(client: Client, schema: string, of: ClusterSecret): Promise<OpenRoot> {
  const { rows } = await client.query<{ readonly name: string; readonly sealed: Uint8Array }>(
    `select name, sealed from ${schema}.secrets where starts_with(name, $1)`,
    [ROOT],
  );
  const found = rows.find(({ name }) => name === ROOT + of.id);
  if (found !== undefined) return { keys: openedRoot(of, plain(found.sealed)), sealed: plain(found.sealed) };
  if (rows.length > 0) {
    const other = rows[0].name.slice(ROOT.length);
    throw new PreflightError(
      `cluster_id: the schema ${schema} of the database belongs to the cluster ${other}: set cluster_id to that, or postgresql.schema to another one`,
    );
  }
  const { root, sealed } = makeRoot(of);
  await client.query(`insert into ${schema}.secrets (name, generation, sealed) values ($1, 1, $2)`, [
    ROOT + of.id,
    sealed,
  ]);
  return { keys: new RootKeys(root), sealed };
}

/**
 * The keys of a stored root.
 * @throws {PreflightError} If the secret is another.
 */
export function openedRoot(of: ClusterSecret, sealed: Uint8Array): RootKeys {
  try {
    return new RootKeys(openRoot(of, sealed));
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    throw new PreflightError(
      `cluster_secret: it is not the secret of the cluster ${of.id}: set it to what the other masters have`,
    );
  }
}

/** The publish keys that count, the newest first; sealed. */
export async function publishKeys(client: Client, schema: string): Promise<SealedKey[]> {
  const { rows } = await client.query<
    { readonly generation: number; readonly made: string; readonly sealed: Uint8Array }
  >(
    `select generation, extract(epoch from made) * 1000 as made, sealed from ${schema}.secrets where name = $1 order by generation desc limit $2`,
    [PUBLISH, KEPT_KEYS],
  );
  return rows.map(({ generation, made, sealed }) => ({
    generation,
    madeMs: Math.floor(Number(made)),
    sealed: plain(sealed),
  }));
}

/**
 * Makes the next publish key, and removes those that no longer count.
 * @param after The generation that it follows: if there is a later one already, none is made.
 * @returns The newest generation.
 */
export async function makePublishKey(client: Client, schema: string, keys: RootKeys, after: number): Promise<number> {
  await client.query(
    `insert into ${schema}.secrets (name, generation, sealed)
     select $1::text, $2::int, $3::bytea
     where not exists (select 1 from ${schema}.secrets where name = $1::text and generation >= $2::int)
     on conflict do nothing`,
    [PUBLISH, after + 1, keys.seal(PUBLISH, utf8.encode(generateKeyString()))],
  );
  const newest = (await publishKeys(client, schema))[0]?.generation ?? 0;
  await client.query(`delete from ${schema}.secrets where name = $1 and generation <= $2`, [
    PUBLISH,
    newest - KEPT_KEYS,
  ]);
  return newest;
}

/** Opens one, as minions get it when they sign in. */
export function publishKeyText(keys: RootKeys, { sealed }: SealedKey): string {
  return new TextDecoder().decode(keys.open(PUBLISH, sealed));
}

/** The bytes alone, not the buffer of the client that they lie in. */
function plain(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}
