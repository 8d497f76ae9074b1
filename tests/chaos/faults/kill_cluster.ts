/**
 * `kill -9` of either master of a cluster and of its database, while both masters publish jobs to the same minions.
 * @module
 */

import { Client } from "pg";
import type { LocalClient } from "#lib/client/local.ts";
import { sleep } from "#lib/os/sleep.ts";
import { map } from "#lib/values/value.ts";
import type { Fault, FaultRun, Figure } from "#tests/chaos/harness/fault.ts";
import type { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import type { Random } from "#tests/fuzz/mutate.ts";
import { FAILOVER, ProcessMasters } from "#tests/chaos/harness/process_masters.ts";
import { type PostgresServer, serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";

const LONG = { kills: 100, failover: ["m1", "m2"], listed: ["m3", "m4"] };
const SHORT = { kills: 3, failover: ["m1"], listed: ["m2"] };

/** Jobs that are published between two whose answers are collected. */
const BETWEEN = 4;
/** What is killed stays down for up to this time, in milliseconds. */
const DOWN_MS = 1_500;
/** Load between two kills, in milliseconds. */
const LOAD_MS = 1_500;
/** Pause of a client between two jobs, in milliseconds. */
const PAUSE_MS = 50;
/** A client that has no answer for so long connects anew, in milliseconds. */
const ANSWER_MS = 6_000;
/** The time-outs of collecting: long enough for a minion that changes its master. */
const TIMEOUTS = { timeoutMs: 5_000, gatherMs: 5_000 };
/** Time for what is outstanding when the last victim is back, in milliseconds. */
const SETTLE_MS = 120_000;

/** Clients of both masters, which publish until they are stopped. */
class Load implements Disposable {
  /** Job ids that a client was told, and the numbers of their files. */
  readonly confirmed = new Map<string, number>();
  /** Targets of collected jobs that were named, and that were not. */
  named = 0;
  unnamed = 0;
  /** Publishes that had no answer, and collecting that ended with its master. */
  cut = 0;
  readonly #ids: readonly string[];
  readonly #directory: string;
  #next = 0;
  #stopping = false;

  constructor(ids: readonly string[], directory: string) {
    this.#ids = ids;
    this.#directory = directory;
    Deno.mkdirSync(directory);
  }

  /** The number of jobs that clients have tried to publish. */
  get tried(): number {
    return this.#next;
  }

  /** Publishes at a master until {@linkcode stop}. */
  async run(fleet: ProcessFleet): Promise<void> {
    let client: LocalClient | undefined;
    for (let turn = 1; !this.#stopping; turn++) {
      try {
        client ??= await fleet.client();
        await this.#one(client, turn % (BETWEEN + 1) === 0);
        await sleep(PAUSE_MS);
      } catch {
        // The master or the database was killed: what was not told is not promised.
        this.cut++;
        client?.close();
        client = undefined;
        await sleep(5 * PAUSE_MS);
      }
    }
    client?.close();
  }

  async #one(client: LocalClient, isCollected: boolean): Promise<void> {
    const n = ++this.#next, command = `echo ran >> ${this.#directory}/${n}`;
    const kwargs = map({ job_ttl: 3_600 });
    const job = { tgt: [...this.#ids], tgtType: "list", fun: "cmd.run", arg: [command], kwargs };
    const published = await within(ANSWER_MS, client.publish(job));
    this.confirmed.set(published.jid, n);
    if (!isCollected) return;
    const names = new Set<string>();
    for await (const { id } of client.collect(published, TIMEOUTS)) names.add(id);
    this.named += this.#ids.filter((id) => names.has(id)).length;
    this.unnamed += this.#ids.filter((id) => !names.has(id)).length;
  }

  stop(): void {
    this.#stopping = true;
  }

  /** How often the job of a number ran, on all minions together. */
  runsOf(n: number): number {
    try {
      return Deno.readTextFileSync(`${this.#directory}/${n}`).split("\n").length - 1;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}

function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${ms} ms`)), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}

/** The number of returns of each of these jobs in the database. */
async function returnsOf(server: PostgresServer, jids: readonly string[]): Promise<Map<string, number>> {
  const client = new Client({ host: "127.0.0.1", port: server.port, user: "salt", database: "salt" });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly jid: string; readonly count: string }>(
      "select jid, count(*) from salt.returns where jid = any($1::text[]) group by jid",
      [jids],
    );
    return new Map(rows.map(({ jid, count }) => [jid, Number(count)]));
  } finally {
    await client.end();
  }
}

/** Kills one of the three, and starts it again. */
async function killOne(masters: ProcessMasters, victim: number, random: Random): Promise<string> {
  const { server, all } = masters, fleet = all[victim];
  if (fleet === undefined) {
    await server.crash();
    await sleep(random.int(DOWN_MS));
    await server.restart();
    return "database";
  }
  await fleet.killMaster();
  await sleep(random.int(DOWN_MS));
  await fleet.startMaster();
  return String(fleet.masterOpts.id);
}

/** Waits for what is outstanding; the figures of what is missing then. */
async function judge(load: Load, server: PostgresServer, minions: number): Promise<Figure[]> {
  const jids = [...load.confirmed.keys()];
  let lost = -1;
  const whole = async () => {
    const returns = await returnsOf(server, jids);
    lost = jids.reduce((sum, jid) => sum + minions - (returns.get(jid) ?? 0), 0);
    return lost === 0;
  };
  await eventually(whole, { what: "all returns", withinMs: SETTLE_MS, everyMs: 1_000 }).catch(() => {});
  const runs = Array.from({ length: load.tried }, (_, i) => load.runsOf(i + 1));
  const ranTooOften = runs.reduce((sum, times) => sum + Math.max(0, times - minions), 0);
  const notRun = [...load.confirmed.values()].reduce((sum, n) => sum + Math.max(0, minions - load.runsOf(n)), 0);
  return [
    { name: "jobs that were confirmed", value: jids.length, atLeast: 10 },
    { name: "their runs", value: jids.length * minions },
    { name: "runs lost", value: notRun, atMost: 0 },
    { name: "returns lost", value: lost, atMost: 0 },
    { name: "runs too many", value: ranTooOften, atMost: 0 },
    { name: "targets named by collecting clients", value: load.named, atLeast: minions },
    { name: "targets not named", value: load.unnamed, atMost: 0 },
    { name: "publishes and waits that were cut", value: load.cut },
  ];
}

/** See {@linkcode Fault}. */
export const killCluster: Fault = {
  name: "kill-cluster",
  what: "kill -9 of either master of a cluster and of its database, while both masters publish jobs",
  promise: "each confirmed job runs once on each minion, its returns are stored, and clients name every target",
  missing: () => serverProgram("postgres") === undefined ? "there is no postgres on this host" : undefined,
  async run({ long, random, say }: FaultRun): Promise<Figure[]> {
    const { kills, failover, listed } = long ? LONG : SHORT;
    await using masters = await ProcessMasters.start();
    const [a, b] = masters.all;
    await masters.startMinions(failover, [b, a], FAILOVER);
    await masters.startMinions(listed, [a, b], {});
    using load = new Load([...failover, ...listed], `${a.root}/ran`);
    const running = [load.run(a), load.run(b)];
    const killed = new Map<string, number>();
    for (let kill = 1; kill <= kills; kill++) {
      await sleep(LOAD_MS);
      // In the short form each once.
      const victim = await killOne(masters, long ? random.int(3) : kill - 1, random);
      killed.set(victim, (killed.get(victim) ?? 0) + 1);
      if (kill % 10 === 0) say(`${kill} kills, ${load.confirmed.size} jobs`);
    }
    await sleep(LOAD_MS);
    load.stop();
    await Promise.all(running);
    const counted = [...killed].map(([name, value]) => ({ name: `kills: ${name}`, value }));
    return [...counted, ...await judge(load, masters.server, failover.length + listed.length)];
  },
};
