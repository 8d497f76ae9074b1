/**
 * A cluster of masters over a PostgreSQL of its own, with simulated minions that are spread over the masters.
 * @module
 */

import { startPostgres } from "#tests/support/database_servers.ts";
import { run } from "#tests/support/processes.ts";
import { treeCpuMs, treeMemory } from "#tests/bench/harness/process_figures.ts";
import { combined, type PartTimes, partTimes } from "#tests/bench/harness/thread_times.ts";
import { OURS } from "#tests/bench/harness/sides.ts";
import { Fleet, SWARM_MINIONS } from "./fleet.ts";
import { keyOf, keyPool } from "./key_pool.ts";

/** How many RSA keys the minions share, and their size: the defaults of the swarm. */
const KEYS = { count: 16, bits: 2048 };
/** Time limit of a job of all minions, in milliseconds. */
const PING_MS = 600_000;

/** Processor time so far, in milliseconds. */
export interface SiteTimes {
  /** Of all masters together, by part. */
  readonly masters: PartTimes;
  readonly database: number;
  readonly swarm: number;
}

/** Memory now, in KiB. */
export interface SiteMemory {
  /** PSS of all masters together. */
  readonly masters: number;
  readonly database: number;
  readonly swarm: number;
}

/** The cluster and its minions. */
export class ClusterSwarm implements AsyncDisposable {
  readonly masters: readonly Fleet[];
  readonly #database: Awaited<ReturnType<typeof startPostgres>>;
  readonly #minions: number;

  private constructor(masters: readonly Fleet[], database: Awaited<ReturnType<typeof startPostgres>>, minions: number) {
    this.masters = masters;
    this.#database = database;
    this.#minions = minions;
  }

  /** Starts the database and the masters; the keys of the minions are accepted, and known to all masters. */
  static async start(
    { masters: count, minions }: { readonly masters: number; readonly minions: number },
  ): Promise<ClusterSwarm> {
    const database = await startPostgres({ synced: true });
    const masters = Array.from({ length: count }, (_, i) => new Fleet(OURS, { host: `127.0.0.${i + 1}` }));
    const site = new ClusterSwarm(masters, database, minions);
    try {
      for (const [i, fleet] of masters.entries()) {
        fleet.setOptions({
          id: `master-${i + 1}`,
          cluster_id: "bench",
          cluster_secret: "bench",
          postgresql: `{host: 127.0.0.1, port: ${database.port}}`,
        });
      }
      const keys = await keyPool(Math.min(KEYS.count, minions), KEYS.bits);
      // Not by the store of keys, which waits for the disk at each; and at all masters, as these would do the same.
      for (const { pkiDir } of masters) {
        for (let n = 1; n <= minions; n++) {
          Deno.writeTextFileSync(`${pkiDir}/minions/sim-${n}`, keyOf(n, keys).publicKey.pem);
        }
      }
      for (const fleet of masters) await fleet.startMaster();
      return site;
    } catch (error) {
      await site[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** How many minions each master gets. */
  get shares(): readonly number[] {
    const { length } = this.masters;
    return this.masters.map((_, i) => Math.floor((this.#minions + i) / length));
  }

  /** Starts all minions, at each master one process of them after the other; resolves when they have signed in. */
  async signIn(): Promise<void> {
    let next = 1;
    await Promise.all(this.shares.map(async (share, i) => {
      let from = next;
      const end = next += share;
      for (let count = 0; from < end; from += count) {
        count = Math.min(end - from, SWARM_MINIONS);
        await this.masters[i].startSwarm(from, count, ["--keys", String(KEYS.count)]);
      }
    }));
  }

  /** Runs `test.ping` on all minions from the first master; returns how many answered, and the time in milliseconds. */
  async ping(): Promise<{ readonly answered: number; readonly ms: number }> {
    for (const fleet of this.masters) fleet.checkSwarms();
    const { code, out, err, ms } = await run(
      [...this.masters[0].words("salt"), "-t", "120", "*", "test.ping"],
      PING_MS,
    );
    const answered = (out.match(/^ +True$/gm) ?? []).length;
    if (code !== 0 && answered === 0) throw new Error(`salt '*' test.ping ended with ${code}:\n${out}${err}`);
    return { answered, ms };
  }

  get times(): SiteTimes {
    return {
      masters: this.masters.map(({ master }) => partTimes(master.pid)).reduce((a, b) => combined(a, b, 1)),
      database: treeCpuMs(this.#database.pid),
      swarm: this.#ofSwarms(treeCpuMs),
    };
  }

  get memory(): SiteMemory {
    const pssKb = (pid: number) => treeMemory(pid).pssKb;
    return {
      masters: this.masters.reduce((sum, { master }) => sum + pssKb(master.pid), 0),
      database: pssKb(this.#database.pid),
      swarm: this.#ofSwarms(pssKb),
    };
  }

  #ofSwarms(figure: (pid: number) => number): number {
    return this.masters.flatMap(({ swarms }) => swarms).reduce((sum, { pid }) => sum + figure(pid), 0);
  }

  /** Ends the minions, the masters and the database. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.masters.map((fleet) => fleet[Symbol.asyncDispose]()));
    await this.#database[Symbol.asyncDispose]();
  }
}
