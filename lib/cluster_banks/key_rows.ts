/**
 * The rows of minions' keys in the database of a cluster: one for each minion and state, signed with the root of the
 * cluster over all of its fields, so that whoever has the password of the database alone cannot make a key. A key that
 * was deleted leaves its row without a key: masters read what is new by its generation, and learn of it so.
 * @module
 */

import type { Client } from "pg";
import { timingSafeEqual } from "#lib/crypto/timing_safe_equal.ts";
import { KEY_DIRECTORIES, type KeyState } from "#lib/keys/store.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import type { ClusterKeys } from "#lib/cluster/cluster_secrets.ts";

/** One row, whose signature is right. */
export interface KeyRow {
  readonly minion: string;
  readonly state: KeyState;
  /** The key; `null`: it was deleted. */
  readonly pem: string | null;
  /** Of the key; of a deleted one {@linkcode KEPT}, or nothing. */
  readonly fingerprint: string | null;
  /** The change of keys that made the row: each change has the next number. */
  readonly generation: number;
  /** When, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Who. */
  readonly by: string;
}

/** Instead of the fingerprint of a deleted key: the minion's data are kept. */
export const KEPT = "data kept";

/** What the database gives. */
interface RawKeyRow {
  readonly minion: string;
  readonly state: string;
  readonly pem: string | null;
  readonly fingerprint: string | null;
  readonly generation: string;
  readonly at: string;
  readonly by: string | null;
  readonly mac: Uint8Array | null;
}

/** A row that was not signed by a master of this cluster, or names no minion. */
export interface RefusedRow {
  readonly minion: string;
  readonly state: string;
}

/** Rows that were read. */
export interface ReadKeyRows {
  readonly rows: readonly KeyRow[];
  readonly refused: readonly RefusedRow[];
}

/** Which rows are read. */
export type KeyRowsWanted = { readonly above: number; readonly upTo: number } | { readonly minions: readonly string[] };

const COLUMNS = `minion, state, pem, fingerprint, generation, round(extract(epoch from at) * 1000) as at, "by", mac`;
const PURPOSE = "minion key";
const utf8 = new TextEncoder();

/** Reads rows by their generation, or of some minions, in the order of their generations. */
export async function readKeyRows(
  client: Client,
  wanted: KeyRowsWanted,
  { schema, keys }: { readonly schema: string; readonly keys: Pick<ClusterKeys, "mac"> },
): Promise<ReadKeyRows> {
  const [where, parameters] = "minions" in wanted
    ? ["minion = any($1::text[])", [wanted.minions]]
    : ["generation > $1 and generation <= $2", [wanted.above, wanted.upTo]];
  const { rows } = await client.query<RawKeyRow>(
    `select ${COLUMNS} from ${schema}.minion_keys where ${where} order by generation, minion, state`,
    parameters,
  );
  const checked = rows.map((raw) => checkedRow(raw, keys) ?? { minion: raw.minion, state: raw.state });
  return {
    rows: checked.filter((row): row is KeyRow => "generation" in row),
    refused: checked.filter((row) => !("generation" in row)),
  };
}

function checkedRow(raw: RawKeyRow, keys: Pick<ClusterKeys, "mac">): KeyRow | undefined {
  const { minion, state, pem, fingerprint, by, mac } = raw;
  if (!isValidId(minion) || !isKeyState(state) || mac === null) return undefined;
  const row = {
    minion,
    state,
    pem,
    fingerprint,
    generation: Number(raw.generation),
    atMs: Number(raw.at),
    by: by ?? "",
  };
  return timingSafeEqual(new Uint8Array(mac), macOf(row, keys)) ? row : undefined;
}

function isKeyState(text: string): text is KeyState {
  return Object.hasOwn(KEY_DIRECTORIES, text);
}

function macOf(row: KeyRow, keys: Pick<ClusterKeys, "mac">): Uint8Array {
  const { minion, state, pem, fingerprint, generation, atMs, by } = row;
  return keys.mac(PURPOSE, utf8.encode(JSON.stringify([minion, state, pem, fingerprint, generation, atMs, by])));
}

/** Writes rows over those of the same minion and state. */
export async function writeKeyRows(
  client: Client,
  rows: readonly KeyRow[],
  { schema, keys }: { readonly schema: string; readonly keys: Pick<ClusterKeys, "mac"> },
): Promise<void> {
  await client.query(
    `insert into ${schema}.minion_keys as k (minion, state, pem, fingerprint, generation, at, "by", mac)
     select m, s, p, f, g, to_timestamp(a / 1000.0), b, decode(c, 'base64')
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::text[])
       as x(m, s, p, f, g, a, b, c)
     on conflict (minion, state) do update set pem = excluded.pem, fingerprint = excluded.fingerprint,
       generation = excluded.generation, at = excluded.at, "by" = excluded."by", mac = excluded.mac`,
    [
      rows.map(({ minion }) => minion),
      rows.map(({ state }) => state),
      rows.map(({ pem }) => pem),
      rows.map(({ fingerprint }) => fingerprint),
      rows.map(({ generation }) => generation),
      rows.map(({ atMs }) => atMs),
      rows.map(({ by }) => by),
      rows.map((row) => macOf(row, keys).toBase64()),
    ],
  );
}

/** The number of the last change of keys; 0: there was none. */
export async function keyGeneration(client: Client, schema: string, { locks = false } = {}): Promise<number> {
  const { rows: [row] } = await client.query<{ readonly n: string }>(
    `select n from ${schema}.key_generation${locks ? " for update" : ""}`,
  );
  return Number(row?.n ?? 0);
}
