/**
 * The keys of the cluster in the pki directory of this master, from which it reads as a master that stands alone: what
 * has changed since the generation that a file beside the keys names is taken from the database. So minions with known
 * keys sign in while the database is away, and each master has all keys when the cluster is left.
 *
 * Only what a row says is done: a file that no row names stays, and is named in the log.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import { KEY_STATES } from "#lib/keys/manager.ts";
import type { KeyState, KeyStore } from "#lib/keys/store.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { withFileLock } from "#lib/os/file_lock.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, toNumber } from "#lib/values/value.ts";
import type { ClusterDatabase } from "#lib/cluster/cluster_database.ts";
import type { ClusterKeys } from "#lib/cluster/cluster_secrets.ts";
import { KEPT, keyGeneration, type KeyRow, readKeyRows } from "./key_rows.ts";

/** What a mirror works with. */
export interface KeyMirrorOptions {
  readonly db: Pick<ClusterDatabase, "schema" | "read">;
  readonly keys: Pick<ClusterKeys, "mac">;
  readonly store: KeyStore;
  /** The directory of the files, which remembers the generation. */
  readonly pkiDir: string;
  /** `cluster_id`: the generation of another cluster does not count. */
  readonly clusterId: string;
  readonly log: Pick<Logger, "warning" | "error" | "info">;
  /** Removes the data of minions without any key left. */
  readonly forget: (ids: readonly string[]) => void;
}

/** The file that names the generation of the keys beside it. */
const SEEN_FILE = ".cluster_keys";

/** The mirror of one process; several of one host may work at once. */
export class KeyMirror {
  readonly #options: KeyMirrorOptions;
  readonly #path: string;
  #looking: Promise<void> = Promise.resolve();
  /** What was said already. */
  #said = "";

  constructor(options: KeyMirrorOptions) {
    this.#options = options;
    this.#path = `${options.pkiDir}/${SEEN_FILE}`;
  }

  /** The generation of the files; `undefined`: they were never those of this cluster. */
  get seen(): number | undefined {
    const text = readTextFileIfExists(this.#path);
    if (text === undefined || text === "") return undefined;
    const seen = parseJson(text);
    if (!isMap(seen) || seen.get("cluster") !== this.#options.clusterId) return undefined;
    return toNumber(seen.get("generation"));
  }

  /** The keys that this master's files have of a minion. */
  localKeys(id: string): (readonly [state: KeyState, pem: string])[] {
    return KEY_STATES.flatMap((state) => {
      const pem = this.#options.store.get(id, state);
      return pem === undefined ? [] : [[state, pem] as const];
    });
  }

  /**
   * Refuses a database whose keys are older than those that this master has seen.
   * @throws {StoreError} With what to do.
   */
  checkGeneration(found: number): void {
    const seen = this.seen ?? 0;
    if (found >= seen) return;
    throw new StoreError(
      `The keys in the database are of generation ${found}, and this master has seen ${seen}: the database was set back, and its keys are refused; if that is wanted, remove ${this.#path} on each master`,
      this.#path,
    );
  }

  /**
   * Takes what has changed. One look after the other.
   * @throws {StoreError} If the database is away or was set back, or a file cannot be written.
   */
  look(): Promise<void> {
    const look = this.#looking.then(() => this.#look());
    this.#looking = look.catch(() => {}); // whoever has asked for it gets the error
    return look;
  }

  async #look(): Promise<void> {
    const { db, keys } = this.#options, { schema } = db;
    const above = this.seen ?? 0;
    const { found, read } = await db.read(async (client) => {
      const found = await keyGeneration(client, schema);
      if (found <= above) return { found, read: { rows: [], refused: [] } };
      return { found, read: await readKeyRows(client, { above, upTo: found }, { schema, keys }) };
    });
    this.checkGeneration(found);
    if (read.refused.length > 0) {
      const names = truncateList(read.refused.map(({ minion, state }) => `${minion} (${state})`));
      this.#sayOnce(`Keys in the database that no master of this cluster has signed are refused: ${names}`);
    }
    if (found > above || this.seen === undefined) this.#take(read.rows, { above, found });
  }

  #take(rows: readonly KeyRow[], { above, found }: { readonly above: number; readonly found: number }): void {
    const taken = withFileLock(`${this.#path}.lock`, () => {
      // Another process of this host was faster.
      if ((this.seen ?? 0) > above) return true;
      this.#apply(rows);
      const seen = JSON.stringify({ cluster: this.#options.clusterId, generation: found });
      writeFileAtomic(this.#path, seen, { mode: 0o600, sync: true, makeDirectory: true });
      return true;
    });
    if (taken === undefined) throw new StoreError("Another process keeps the keys locked", this.#path);
  }

  #apply(rows: readonly KeyRow[]): void {
    const { store, forget } = this.#options;
    writeKeys(rows, store);
    const gone = forgotten(rows).filter((id) => store.state(id) === undefined && store.get(id, "denied") === undefined);
    if (gone.length > 0) forget(gone);
  }

  #sayOnce(text: string): void {
    if (this.#said === text) return;
    this.#said = text;
    this.#options.log.error(text);
  }
}

/**
 * Makes the files what rows say.
 * @returns The minions whose files have changed.
 */
export function writeKeys(rows: readonly KeyRow[], store: KeyStore): Set<string> {
  const changed = new Set<string>();
  // A key that moves is in its new place before it leaves the old one.
  for (const { minion, state, pem } of rows) {
    if (pem === null || store.get(minion, state) === pem) continue;
    store.put(minion, state, pem);
    changed.add(minion);
  }
  for (const { minion, state, pem } of rows) if (pem === null && store.delete(minion, state)) changed.add(minion);
  return changed;
}

/** The minions whose last change deleted keys, and whose data are not kept. */
function forgotten(rows: readonly KeyRow[]): string[] {
  const last = new Map<string, KeyRow[]>();
  for (const row of rows) {
    const others = (last.get(row.minion) ?? []).filter(({ generation }) => generation === row.generation);
    last.set(row.minion, [...others, row]);
  }
  return [...last].filter(([, some]) => some.every(({ pem, fingerprint }) => pem === null && fingerprint !== KEPT))
    .map(([id]) => id);
}
