/**
 * Keys and data of a master that belongs to a cluster: follows the database, and gives what changes here.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { changeNotes, clusterDirectory } from "#lib/config/master_paths.ts";
import { messageOf } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import type { KeyBank } from "#lib/keys/key_bank.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { ChangeNotes } from "#lib/os/change_notes.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";
import { truncateList } from "#lib/text/truncate.ts";
import { removeOldBankRows } from "./bank_rows.ts";
import type { ClusterDatabase } from "#lib/cluster/cluster_database.ts";
import { ClusterKeyBank } from "./cluster_key_bank.ts";
import type { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { DataExchange } from "./data_exchange.ts";
import { KeyMirror } from "./key_mirror.ts";
import { loadKeys } from "./load_keys.ts";
import { SharedBanks } from "./shared_banks.ts";

/** The options that it depends on. */
export type SharedStateOpts = Pick<
  MasterOpts,
  | "cachedir"
  | "cluster_id"
  | "cluster_lease"
  | "hash_type"
  | "id"
  | "mine_max_bytes"
  | "pki_dir"
  | "preserve_minion_cache"
  | "rotate_aes_key"
  | "token_dir"
>;

/** What it works with. */
export interface SharedStateParts {
  readonly db: ClusterDatabase;
  readonly keys: RootKeys;
  readonly log: Logger;
  /** Whether this master maintains the database now. */
  maintains(): boolean;
}

/** Time between two looks at what has changed here, in milliseconds: a look costs two system calls. */
const GIVE_MS = 100;
/** How long a row says that something is gone, in seconds; time between two looks for such rows, in milliseconds. */
const GONE_SECONDS = 7 * 86_400, CLEAN_MS = 3_600_000;

/** See the module. */
export class SharedState {
  /** Changes keys, for the threads of this master: it does not wait for the other masters. */
  readonly bank: KeyBank;
  readonly #opts: SharedStateOpts;
  readonly #parts: SharedStateParts;
  readonly #mirror: KeyMirror;
  readonly #exchange: DataExchange;
  #turn: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;
  #giving: Promise<void> = Promise.resolve();
  #said = "";
  #isLoaded = false;
  #noted = 0;
  /** When rows are looked for that nobody needs. */
  #cleansMs = 0;
  #closed = false;

  constructor(opts: SharedStateOpts, parts: SharedStateParts) {
    this.#opts = opts;
    this.#parts = parts;
    const { db, keys, log } = parts;
    this.#mirror = keyMirror(opts, parts);
    this.bank = clusterKeyBank(opts, { db, keys, mirror: this.#mirror, by: `sign-in at ${opts.id}`, waits: false });
    this.#exchange = dataExchange(opts, { db, keys, log: (text) => log.warning(text) });
  }

  /** Begins to follow. */
  start(): void {
    const { db } = this.#parts;
    // One after the other: data of a minion whose key was deleted do not come back.
    db.follow("k", () => this.#inTurn(() => this.#followKeys()));
    db.follow("d", () => this.#inTurn(() => this.#followData()));
    this.#schedule();
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const ran = this.#turn.then(run);
    this.#turn = ran.catch(() => {}); // the database logs it, and looks again
    return ran;
  }

  async #followKeys(): Promise<void> {
    const { db, keys, log } = this.#parts;
    if (!this.#isLoaded) {
      const store = new KeyStore(this.#opts.pki_dir);
      const by = `files of ${this.#opts.id}`;
      const brought = await loadKeys({ db, keys, mirror: this.#mirror, store, hashType: this.#opts.hash_type, by });
      if (brought.length > 0) {
        log.warning(`Keys that only this master had are the cluster's now: ${truncateList(brought)}`);
      }
      this.#isLoaded = true;
    }
    await this.#mirror.look();
    const seen = this.#mirror.seen ?? 0;
    if (seen === this.#noted) return;
    await db.write((client) =>
      client.query(`update ${db.schema}.masters set keys_seen = $1 where origin = $2 and incarnation = $3`, [
        seen,
        db.origin,
        db.incarnation,
      ])
    );
    this.#noted = seen;
  }

  async #followData(): Promise<void> {
    if (!this.#exchange.hasTaken) await this.#exchange.giveAll();
    await this.#exchange.take();
    if (performance.now() < this.#cleansMs || !this.#parts.maintains()) return;
    const { db } = this.#parts;
    await db.write((client) => removeOldBankRows(client, db.schema, GONE_SECONDS));
    this.#cleansMs = performance.now() + CLEAN_MS;
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#giving = this.#give().finally(() => this.#schedule());
    }, GIVE_MS);
  }

  /** Never rejects. */
  async #give(): Promise<void> {
    try {
      if (!this.#parts.db.away) await this.#exchange.give();
      this.#said = "";
    } catch (error) {
      if (error instanceof DatabaseAwayError) return; // said by whoever has the connection
      const text = messageOf(error);
      if (text !== this.#said) this.#parts.log.error(`Data of minions do not reach the other masters: ${text}`);
      this.#said = text;
    }
  }

  /** Ends when what is running has ended. The database is closed before, or after it. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    await Promise.all([this.#giving, this.#turn]);
  }
}

/** The mirror of the keys in this host's files. */
export function keyMirror(
  opts: SharedStateOpts,
  { db, keys, log }: Pick<SharedStateParts, "keys" | "log"> & {
    readonly db: Pick<ClusterDatabase, "schema" | "read">;
  },
): KeyMirror {
  const data = new DataCache(opts.cachedir, { log: (text) => log.warning(text), notes: changeNotes(opts) });
  return new KeyMirror({
    db,
    keys,
    log,
    store: new KeyStore(opts.pki_dir),
    pkiDir: opts.pki_dir,
    clusterId: opts.cluster_id ?? "",
    forget: (ids) => ids.forEach((id) => data.remove(id)),
  });
}

/** The bank that changes keys. */
export function clusterKeyBank(
  opts: SharedStateOpts,
  { db, keys, mirror, by, waits }: {
    readonly db: Pick<ClusterDatabase, "schema" | "read" | "write" | "wake">;
    readonly keys: RootKeys;
    readonly mirror: KeyMirror;
    readonly by: string;
    /** Whether it waits until all live masters follow. */
    readonly waits: boolean;
  },
): KeyBank {
  return new ClusterKeyBank({
    db,
    keys,
    mirror,
    by,
    hashType: opts.hash_type,
    keepsData: opts.preserve_minion_cache,
    rotates: opts.rotate_aes_key,
    waitMs: waits ? 3 * opts.cluster_lease * 1000 : 0,
  });
}

/** What gives and takes the data in this host's files. */
export function dataExchange(
  opts: SharedStateOpts,
  { db, keys, log }: {
    readonly db: Pick<ClusterDatabase, "schema" | "origin" | "read" | "write" | "wake">;
    readonly keys: RootKeys;
    readonly log: (text: string) => void;
  },
): DataExchange {
  const directory = clusterDirectory(opts.cachedir);
  return new DataExchange({
    db,
    banks: new SharedBanks(opts, { keys, log }),
    notes: changeNotes(opts) ?? new ChangeNotes(`${directory}/changes`),
    positions: `${directory}/positions`,
  });
}
