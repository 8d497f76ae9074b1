/**
 * Masters of a cluster as processes that are killed and stopped, over a database that goes away: no job is lost, none
 * runs twice, and every target is named.
 * @module
 */

import { masterBus } from "#lib/bus/paths.ts";
import { fireEvent } from "#lib/bus/fire.ts";
import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { clusterOptions } from "#tests/support/cluster/cluster_site.ts";
import { type PostgresServer, serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Ran } from "#tests/support/processes.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

/** Two masters, and the minions that connect to both or to one. */
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

  /** Starts minions that have the masters `of`, with keys that all masters have accepted. */
  async startMinions(ids: readonly string[], of: readonly ProcessFleet[] = this.all): Promise<void> {
    const list = of.map(({ masterOpts: { interface: address, ret_port } }) => `${address}:${ret_port}`);
    for (const id of ids) {
      for (const { root } of this.all) {
        const pair = await loadOrCreateKeyPair(`${of[0].root}/${id}/etc/salt/pki/minion`, "minion", 2048);
        new KeyStore(`${root}/master/etc/salt/pki/master`).put(id, "accepted", pair.publicKey.pem);
      }
      await of[0].startMinion(id, { master: list.length === 1 ? list[0] : list });
    }
    for (const fleet of of) await fleet.allPresent(ids);
  }

  /** Waits until both know all of these to be connected somewhere. */
  async know(ids: readonly string[]): Promise<void> {
    for (const fleet of this.all) await fleet.allPresent(ids);
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
    const [a, b] = masters.all, ids = ["m1", "m2", "m3"];
    await masters.startMinions(ids);
    const directory = `${b.root}/ran`;
    Deno.mkdirSync(directory);
    const clients = [await a.client(), await b.client()];
    const publish = async (n: number) => {
      const command =
        `sleep 1; echo $(basename $(dirname $(dirname $(dirname $PWD)))) > /dev/null; echo x >> ${directory}/${n}`;
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
    for (const jid of jids) {
      await eventually(async () => {
        const found = await returned(jid);
        return isMap(found) && found.size === ids.length;
      }, { what: `all returns of ${jid}`, withinMs: 120_000, everyMs: 500 });
    }
    const expected = Array.from({ length: 12 }, (_, n) => ids.map(() => `${n} x`)).flat().sort();
    assertEquals(runs(directory), expected);
    clients[1].close();
  },
});
