/**
 * Masters of a cluster as processes that are killed and stopped, over a database that goes away: no job is lost, none
 * runs twice, and every target is named.
 * @module
 */

import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { clusterOptions } from "#tests/support/cluster/cluster_site.ts";
import { type PostgresServer, serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Ran } from "#tests/support/processes.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

/** A minion is connected to the first of its list that answers; without it, to all of them. */
const FAILOVER = { master_type: "failover", master_alive_interval: 1 };

/** Two masters, and minions. */
class Masters implements AsyncDisposable {
  readonly server: PostgresServer;
  readonly all: readonly ProcessFleet[];

  private constructor(server: PostgresServer, all: readonly ProcessFleet[]) {
    this.server = server;
    this.all = all;
  }

  static async start(more: Readonly<Record<string, unknown>> = {}): Promise<Masters> {
    const server = await startPostgres(), all: ProcessFleet[] = [];
    for (const n of [0, 1]) {
      const { interface: address, ...options } = clusterOptions(server.port, n);
      const place = { masterAddress: String(address), masterName: String(address), master: [], minion: () => [] };
      all.push(await ProcessFleet.start({ minions: 0, master: { ...options, ...more }, places: place }));
    }
    return new Masters(server, all);
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

/** The lines of a directory's files: who ran what. */
function runs(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name }) =>
    Deno.readTextFileSync(`${directory}/${name}`).split("\n").filter((line) => line !== "").map((id) => `${name} ${id}`)
  ).sort();
}

function parsed({ out, err }: Ran): Value {
  if (out === "") throw new Error(err);
  return parseJson(out);
}

Deno.test({
  name: named("kill -9 of one master amid twelve jobs: none is lost, none runs twice, and the other knows all returns"),
  ignore: missing,
  async fn() {
    await using masters = await Masters.start();
    const [a, b] = masters.all, ids = ["m1", "m2", "m3", "m4"];
    await masters.startMinions(["m1", "m2"], [b, a], FAILOVER);
    await masters.startMinions(["m3", "m4"], [a, b], {});
    const directory = `${b.root}/ran`;
    Deno.mkdirSync(directory);
    const clients = [await a.client(), await b.client()];
    const publish = async (n: number) => {
      const command = `sleep 1; echo x >> ${directory}/${n}`;
      const job = { tgt: ids, tgtType: "list", fun: "cmd.run", arg: [command], kwargs: map({ job_ttl: 120 }) };
      return (await clients[n % 2].publish(job)).jid;
    };
    const jids: string[] = [];
    for (let n = 0; n < 8; n++) jids.push(await publish(n));
    await a.killMaster();
    clients[0].close();
    clients[0] = clients[1];
    for (let n = 8; n < 12; n++) jids.push(await publish(n));
    const returned = async (jid: string) => parsed(await b.salt("salt-run", "jobs.lookup_jid", jid, "--out=json"));
    for (const [n, jid] of jids.entries()) {
      await eventually(async () => {
        const found = await returned(jid);
        if (isMap(found) && found.size === ids.length) return true;
        throw new Error(`${jid} (${n}): ${dumpJson(found)}; ${runs(directory)}${masters.lastWords()}`);
      }, { what: `all returns of ${jid}`, withinMs: 45_000, everyMs: 1_000 });
    }
    const expected = Array.from({ length: 12 }, (_, n) => ids.map(() => `${n} x`)).flat().sort();
    assertEquals(runs(directory), expected);
    clients[1].close();
  },
});
