/**
 * Brings keys of a master's files into the database of its cluster: those of minions of which the database knows
 * nothing, not even that their keys were deleted.
 * @module
 */

import { fingerprint } from "#lib/crypto/pem.ts";
import { KEY_STATES } from "#lib/keys/manager.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import type { ClusterDatabase } from "#lib/cluster/cluster_database.ts";
import type { ClusterKeys } from "#lib/cluster/cluster_secrets.ts";
import type { KeyMirror } from "./key_mirror.ts";
import { keyGeneration, type KeyRow, writeKeyRows } from "./key_rows.ts";

/** From where, to where. */
export interface LoadKeysParts {
  readonly db: Pick<ClusterDatabase, "schema" | "write" | "wake">;
  readonly keys: Pick<ClusterKeys, "mac">;
  readonly mirror: KeyMirror;
  readonly store: KeyStore;
  /** The digest of fingerprints. */
  readonly hashType: string;
  /** Who brings them. */
  readonly by: string;
}

/** Minions of one transaction. */
const MAX_MINIONS = 1_000;

/**
 * Brings them. It may be repeated.
 * @returns The minions whose keys are new there.
 * @throws {DatabaseAwayError} If the database is away.
 */
export async function loadKeys(parts: LoadKeysParts): Promise<string[]> {
  const ids = [...new Set(KEY_STATES.flatMap((state) => parts.store.list(state)))], brought: string[] = [];
  for (let i = 0; i < ids.length; i += MAX_MINIONS) {
    brought.push(...await loadSome(ids.slice(i, i + MAX_MINIONS), parts));
  }
  return brought;
}

function loadSome(
  ids: readonly string[],
  { db, keys, mirror, hashType, by }: LoadKeysParts,
): Promise<string[]> {
  return db.write(async (client) => {
    const { schema } = db;
    const last = await keyGeneration(client, schema, { locks: true });
    mirror.checkGeneration(last);
    const { rows } = await client.query<{ readonly minion: string }>(
      `select distinct minion from ${schema}.minion_keys where minion = any($1::text[])`,
      [ids],
    );
    const known = new Set(rows.map(({ minion }) => minion));
    const mark = { generation: last + 1, atMs: Date.now(), by };
    const brought = ids.filter((id) => !known.has(id)).flatMap((minion) =>
      mirror.localKeys(minion).map(([state, pem]): KeyRow => (
        { minion, state, pem, fingerprint: fingerprint(pem, hashType), ...mark }
      ))
    );
    if (brought.length === 0) return [];
    await writeKeyRows(client, brought, { schema, keys });
    await client.query(`update ${schema}.key_generation set n = $1`, [mark.generation]);
    await db.wake(client, "k");
    return [...new Set(brought.map(({ minion }) => minion))];
  });
}
