/**
 * Masters that share keys and data over a scratch PostgreSQL, without the rest of a master: for tests of that alone.
 * @module
 */

import { Tokens } from "#lib/auth/tokens.ts";
import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { PostgresCluster } from "#lib/cluster/postgres_cluster.ts";
import { clusterKeyBank, keyMirror, SharedState } from "#lib/cluster_banks/shared_state.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { Mine } from "#lib/fleet/mine.ts";
import type { KeyBank } from "#lib/keys/key_bank.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { connectDatabase } from "#lib/stores/postgres_connection.ts";
import { postgresOptions } from "#lib/stores/postgres_options.ts";
import { makeSchema } from "#lib/stores/postgres_schema.ts";
import { map } from "#lib/values/value.ts";
import { type PostgresServer, serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";

/** How long a master lives without a sign of life: these give none after their start. */
const ALIVE = "1 hour";

/** One master of the cluster `prod`. */
export class SharingMaster implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "sharing_master_" });
  readonly opts: MasterOpts;
  readonly store: KeyStore;
  readonly data: DataCache;
  readonly mine: Mine;
  readonly tokens: Tokens;
  readonly logged: string[] = [];
  /** Whether it has the lease. */
  maintains = false;
  readonly #log = recordingLogger(this.logged);
  readonly #server: PostgresServer;
  readonly #root: Uint8Array;
  readonly #origin: number;
  #running: { readonly db: PostgresCluster; readonly state: SharedState } | undefined;

  constructor(server: PostgresServer, { root, origin }: { readonly root: Uint8Array; readonly origin: number }) {
    this.#server = server;
    this.#root = root;
    this.#origin = origin;
    const { opts } = loadMasterConfig({
      configDir: `${this.root}/etc/salt`,
      overrides: { root_dir: this.root, id: `master-${origin}`, user: "root", cluster_id: "prod", cluster_lease: 1 },
    });
    this.opts = opts;
    const parts = { log: (text: string) => void this.logged.push(text), notes: changeNotes(opts) };
    this.store = new KeyStore(opts.pki_dir);
    this.data = new DataCache(opts.cachedir, parts);
    this.mine = new Mine(opts.cachedir, { ...parts, maxBytes: 1 << 20 });
    this.tokens = new Tokens({ directory: opts.token_dir, hashType: "sha256", ...parts });
  }

  get keys(): RootKeys {
    return new RootKeys(this.#root);
  }

  #open(waitMs = 10_000): PostgresCluster {
    return new PostgresCluster({
      place: this.#place,
      identity: { origin: this.#origin, incarnation: 1 },
      waitMs,
      leaseMs: 10_000,
      log: this.#log,
    });
  }

  get #place() {
    return postgresOptions({ postgresql: map({ host: "127.0.0.1", port: this.#server.port }) });
  }

  /** Becomes a member, and follows the others. */
  async start(waitMs?: number): Promise<void> {
    const client = await connectDatabase(this.#place, { statementMs: 10_000, onEnd: () => {} });
    await makeSchema(client, "salt", { keepSeconds: 86_400, nowMs: Date.now() });
    await client.query(
      `insert into salt.masters (origin, name, incarnation, until) values ($1, $2, 1, now() + interval '${ALIVE}')
       on conflict (origin) do update set until = excluded.until`,
      [this.#origin, this.opts.id],
    );
    await client.end();
    const db = this.#open(waitMs);
    const state = new SharedState(this.opts, {
      db,
      keys: this.keys,
      log: this.#log,
      maintains: () => this.maintains,
    });
    state.start();
    this.#running = { db, state };
  }

  /** What changes keys for a thread of this master. */
  get bank(): KeyBank {
    if (this.#running === undefined) throw new Error("The master does not run");
    return this.#running.state.bank;
  }

  /**
   * Changes keys as a command of the operator does: in a process of its own, which waits for all masters.
   * @param options.isLossy Whether the answer to each first commit is lost, so that each transaction runs twice.
   */
  async command<T>(
    run: (bank: KeyBank) => Promise<T>,
    { waitMs, isLossy = false }: { readonly waitMs?: number; readonly isLossy?: boolean } = {},
  ): Promise<T> {
    const db = this.#open(waitMs), keys = this.keys;
    const write: PostgresCluster["write"] = async (transaction) => {
      if (isLossy) await db.write(transaction);
      return await db.write(transaction);
    };
    const part = {
      schema: db.schema,
      write,
      read: db.read.bind(db),
      wake: db.wake.bind(db),
    };
    const mirror = keyMirror(this.opts, { db, keys, log: this.#log });
    try {
      return await run(clusterKeyBank(this.opts, { db: part, keys, mirror, by: "root", waits: true }));
    } finally {
      await db.close();
    }
  }

  /** Ends it; its lease stays. */
  async stop(): Promise<void> {
    await this.#running?.state.close();
    await this.#running?.db.close();
    this.#running = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** What a test has: the server, and masters that are not started. */
export interface SharingSite {
  readonly server: PostgresServer;
  readonly a: SharingMaster;
  readonly b: SharingMaster;
}

/** A test with two masters over one database; skipped by name where the host has no PostgreSQL. */
export function sharingTest(name: string, run: (site: SharingSite) => Promise<void>): void {
  const missing = serverProgram("postgres") === undefined;
  Deno.test({
    name: missing ? `${name} (skipped: there is no postgres)` : name,
    ignore: missing,
    async fn() {
      await using server = await startPostgres();
      const root = crypto.getRandomValues(new Uint8Array(32));
      await using a = new SharingMaster(server, { root, origin: 1 });
      await using b = new SharingMaster(server, { root, origin: 2 });
      try {
        await run({ server, a, b });
      } catch (error) {
        throw new Error(`${messageOf(error)}\n\n${[...a.logged, ...b.logged].join("\n")}`, { cause: error });
      }
    },
  });
}
