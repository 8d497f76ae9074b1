/**
 * A cluster of masters in this process, each with its own address, ports and directories, over a scratch PostgreSQL.
 *
 *     clusterTest("…", {}, async ({ masters: [a, b], server }) => {
 *       await a.startMinion("web1");
 *     });
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { portsPath } from "#lib/config/master_paths.ts";
import { removeIfExists, statIfExists } from "#lib/os/atomic_file.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { type PostgresServer, serverProgram, startPostgres } from "#tests/support/database_servers.ts";
import { Service } from "#tests/support/processes.ts";
import { eventually, Fleet, type FleetOptions } from "#tests/support/fleet/fleet.ts";

const SOURCES = decodeURIComponent(new URL("../../..", import.meta.url).pathname);

/** The lease of masters in tests, in seconds. */
const LEASE_S = 3;

/** Masters of one cluster; the fleet of each holds the minions that are started in it. */
class ClusterSite implements AsyncDisposable {
  readonly masters: Fleet[] = [];
  readonly server: PostgresServer;
  readonly #services: Service[] = [];

  /** Use {@linkcode clusterTest}. */
  constructor(server: PostgresServer) {
    this.server = server;
  }

  /** The lines of all logs. */
  get logs(): string[] {
    return [...this.masters.flatMap(({ logs }) => logs), ...this.#services.map(({ written }) => written)];
  }

  /** A master that is not started yet: `master-a`, `master-b`, …; at 127.0.0.1, 127.0.0.2, …. */
  addMaster({ master = {}, ...options }: FleetOptions = {}): Fleet {
    const n = this.masters.length;
    const fleet = new Fleet({ ...options, master: { ...clusterOptions(this.server.port, n), ...master } });
    this.masters.push(fleet);
    return fleet;
  }

  /** Starts a master as a process of its own, which can be killed; resolves when it serves. */
  async startProcess(fleet: Fleet): Promise<Service> {
    const { sock_dir } = fleet.prepareMaster();
    removeIfExists(portsPath(sock_dir));
    const words = [Deno.execPath(), ...DENO_RUN, `${SOURCES}master.ts`, "-c", fleet.configDir, "-l", "info"];
    const service = Service.start(`the master below ${fleet.root}`, words, `${fleet.root}/master.out`);
    this.#services.push(service);
    await eventually(() => {
      if (service.exitCode !== undefined) throw new Error(`${service.name} has ended: ${service.written}`);
      return statIfExists(portsPath(sock_dir)) !== undefined;
    }, { what: `the ports of ${service.name}` });
    return service;
  }

  /** Ends the masters, then the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#services.map((service) => service.kill()));
    await Promise.all(this.masters.map((fleet) => fleet[Symbol.asyncDispose]()));
    await this.server[Symbol.asyncDispose]();
  }
}

/** The options of the nth master of a cluster, from 0. */
export function clusterOptions(port: number, n: number): Readonly<Record<string, unknown>> {
  return {
    id: `master-${"abcdefgh"[n]}`,
    interface: `127.0.0.${n + 1}`,
    cluster_id: "prod",
    cluster_secret: "correct horse battery staple",
    cluster_lease: LEASE_S,
    job_store_wait: 2,
    postgresql: { host: "127.0.0.1", port },
  };
}

/** A test with a cluster of `masters` masters, which run; skipped by name where the host has no PostgreSQL. */
export function clusterTest(
  name: string,
  { masters = 2, ...options }: FleetOptions & { readonly masters?: number },
  run: (site: ClusterSite) => Promise<void>,
): void {
  const missing = serverProgram("postgres") === undefined;
  Deno.test({
    name: missing ? `${name} (skipped: there is no postgres)` : name,
    ignore: missing,
    async fn() {
      await using site = new ClusterSite(await startPostgres());
      try {
        for (let i = 0; i < masters; i++) await site.addMaster(options).startMaster();
        await run(site);
      } catch (error) {
        const logs = site.logs.toSorted().slice(-80).join("\n");
        throw new Error(`${messageOf(error)}\n\nLast of the logs:\n${logs}`, { cause: error });
      }
    },
  });
}

/** Starts a minion of one master at another one, alone, with the keys that it has. */
export async function moveMinion(id: string, from: Fleet, to: Fleet): Promise<void> {
  const [known, taken] = [from, to].map((fleet) => fleet.minionOpts(id).pki_dir);
  for (const { name } of Deno.readDirSync(known)) Deno.copyFileSync(`${known}/${name}`, `${taken}/${name}`);
  await to.untilServing([id], () => to.startMinion(id, { master: to.masterOpts.interface }));
}

/**
 * What `salt-run` of this master answers.
 * @throws {Error} If it shows nothing.
 */
export async function answerOf(fleet: Fleet, ...words: string[]): Promise<Value> {
  const { out, err } = await fleet.saltRun(...words, "--out=json");
  if (out === "") throw new Error(`salt-run ${words.join(" ")} shows nothing: ${err}`);
  return parseJson(out);
}

/** What is in a value below these keys; None if there is nothing. */
export function valueAt(value: Value | undefined, ...path: string[]): Value {
  return path.reduce<Value>((inner, key) => isMap(inner) ? inner.get(key) ?? null : null, value ?? null);
}

/** What a start that is refused says. */
export async function refusal(fleet: Fleet): Promise<string> {
  return await fleet.startMaster().then(() => "it started", (error) => String(error.message));
}
