/**
 * Masters of a cluster as processes that can be killed and stopped, with minions, over a scratch PostgreSQL.
 * @module
 */

import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { clusterOptions } from "#tests/support/cluster/cluster_site.ts";
import { type PostgresServer, startPostgres } from "#tests/support/database_servers.ts";

/** A minion is connected to the first of its list that answers; without it, to all of them. */
export const FAILOVER = { master_type: "failover", master_alive_interval: 1 };

/** Two masters, and minions. */
export class ProcessMasters implements AsyncDisposable {
  readonly server: PostgresServer;
  readonly all: readonly ProcessFleet[];

  private constructor(server: PostgresServer, all: readonly ProcessFleet[]) {
    this.server = server;
    this.all = all;
  }

  static async start(more: Readonly<Record<string, unknown>> = {}): Promise<ProcessMasters> {
    const server = await startPostgres(), all: ProcessFleet[] = [];
    for (const n of [0, 1]) {
      const { interface: address, ...options } = clusterOptions(server.port, n);
      const place = { masterAddress: String(address), masterName: String(address), master: [], minion: () => [] };
      all.push(await ProcessFleet.start({ minions: 0, master: { ...options, ...more }, places: place }));
    }
    return new ProcessMasters(server, all);
  }

  /** Starts minions that have the masters `of`, with keys that all masters have accepted, until both know of them. */
  async startMinions(
    ids: readonly string[],
    of: readonly ProcessFleet[],
    options: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const list = of.map(({ masterOpts: { interface: address, ret_port } }) => `${address}:${ret_port}`);
    for (const id of ids) {
      for (const { root } of this.all) {
        const pair = await loadOrCreateKeyPair(`${of[0].root}/${id}/etc/salt/pki/minion`, "minion", 2048);
        new KeyStore(`${root}/master/etc/salt/pki/master`).put(id, "accepted", pair.publicKey.pem);
      }
      await of[0].startMinion(id, { master: list, ...options });
    }
    for (const fleet of this.all) await fleet.allPresent(ids);
  }

  /** The last lines of all logs. */
  lastWords(): string {
    return this.all.map((fleet) => fleet.lastWords()).join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const fleet of this.all) await fleet[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}
