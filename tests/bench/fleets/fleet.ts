/**
 * A master of one implementation with real or simulated minions, in a temporary root of its own.
 *
 * All options except root, ports and user have their defaults. Keys are accepted before a minion connects.
 * @module
 */

import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel, tcpAddress } from "#lib/sockets/request_channel.ts";
import { map } from "#lib/values/value.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Service } from "#tests/support/processes.ts";
import { treeCpuMs } from "#tests/bench/harness/process_figures.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchCommand, type Program, type Side } from "#tests/bench/harness/sides.ts";
import type { SwarmJob } from "./swarm_jobs.ts";

/** Time limit for each start, in milliseconds. */
const UP_MS = 120_000;
/** Time limit for the sign-in of the minions of one process, in milliseconds: other processes may sign in as well. */
const SIGNED_IN_MS = 600_000;

/**
 * Maximum number of simulated minions in one process: each has several sockets, and the limit of open files is often
 * 20,000.
 */
export const SWARM_MINIONS = 1_700;

/** A fleet; nothing runs until it is started. */
export class Fleet {
  /** The implementation whose programs run. */
  readonly side: Side;
  /** The address of the master, one of loopback. */
  readonly host: string;
  /** The directory that contains all files of the fleet. */
  readonly root: string = Deno.makeTempDirSync({ prefix: "bench_" });
  readonly #ports = { publish: freePort(), request: freePort() };
  readonly #minions = new Map<string, Service>();
  readonly #swarms: Service[] = [];
  #simulated = 0;
  #api: Service | undefined;
  #master: Service | undefined;

  /** Options of master and minions besides those of every fleet. */
  #options: Readonly<Record<string, string>> = {};

  /** Writes the master's configuration. */
  constructor(side: Side, { host = "127.0.0.1" }: { readonly host?: string } = {}) {
    this.side = side;
    this.host = host;
    this.#configureMaster();
    // The access keys of the master, which it would otherwise make only after its start.
    Deno.mkdirSync(`${this.pkiDir}/minions`, { recursive: true, mode: 0o700 });
  }

  /** Adds options for master and minions. Must be called before any of them is started. */
  setOptions(options: Readonly<Record<string, string>>): void {
    this.#options = options;
    this.#configureMaster();
  }

  #configureMaster(): void {
    this.#configure(this.root, "master", {
      publish_port: this.#ports.publish,
      ret_port: this.#ports.request,
      // By default Python Salt prints VALUE_TRIMMED in place of a result of more than 1 MB.
      ...this.side.python !== undefined && { max_event_size: 100_000_000 },
    });
  }

  /** The master's configuration directory. */
  get configDir(): string {
    return `${this.root}/etc/salt`;
  }

  /** The master's `pki_dir`. */
  get pkiDir(): string {
    return `${this.root}/etc/salt/pki/master`;
  }

  /** The process of the master, which must have been started. */
  get master(): Service {
    if (this.#master === undefined) throw new Error("no master runs");
    return this.#master;
  }

  /**
   * Starts the master.
   * @returns Milliseconds until it answered a request.
   */
  async startMaster(): Promise<number> {
    const started = performance.now();
    this.#master = this.#start("salt-master", this.root, "master.out");
    using channel = new RequestChannel(tcpAddress(this.host, this.#ports.request), {
      reconnectMs: 10,
      reconnectMaxMs: 10,
    });
    await channel.request(clearRequest(map({ cmd: "ping" })), { timeoutMs: UP_MS, tries: 1 });
    return performance.now() - started;
  }

  /** The address for requests of clients and minions: host and port. */
  get requestAddress(): { readonly host: string; readonly port: number } {
    return { host: this.host, port: this.#ports.request };
  }

  /** The master's `sock_dir`. */
  get sockDir(): string {
    return `${this.root}/var/run/salt/master`;
  }

  async stopMaster(): Promise<void> {
    await this.#master?.stop();
    this.#master = undefined;
  }

  /** Kills all processes of the master at once, as a machine failure would. */
  async killMaster(): Promise<void> {
    await this.#master?.kill();
    this.#master = undefined;
  }

  /** Starts the REST API that the options of `rest_cherrypy` name; it may not listen yet. */
  startApi(): Service {
    return this.#api = this.#start("salt-api", this.root, "api.out");
  }

  /** Prepares a minion: writes its configuration and key, and accepts the key. */
  async prepareMinion(id: string): Promise<string> {
    const root = `${this.root}/${id}`;
    this.#configure(root, "minion", { id, master: this.host, master_port: this.#ports.request });
    const key = await loadOrCreateKeyPair(`${root}/etc/salt/pki/minion`, "minion", 2048);
    new KeyStore(this.pkiDir).put(id, "accepted", key.publicKey.pem);
    return root;
  }

  /** Starts a minion, of another implementation if `side` says so. */
  async startMinion(id: string, side: Side = this.side): Promise<Service> {
    const root = await this.prepareMinion(id);
    const minion = this.#start("salt-minion", root, "minion.out", side);
    this.#minions.set(id, minion);
    return minion;
  }

  async stopMinion(id: string): Promise<void> {
    await this.#minions.get(id)?.stop();
    this.#minions.delete(id);
  }

  /** Waits until every minion of `target` answers, twice: the warm-up of the first job must not be measured. */
  async warmUp(target: string, count: number): Promise<void> {
    for (let answered = 0; answered < 2;) {
      await eventually(async () => {
        this.checkSwarms();
        const { out } = await run([...this.words("salt"), "-t", "10", target, "test.ping"]).catch(() => ({ out: "" }));
        return (out.match(/^ +True$/gm) ?? []).length === count;
      }, { what: `${count} answers`, withinMs: UP_MS });
      answered++;
    }
  }

  /**
   * The command line of a command on this master.
   * @param side The implementation of the command.
   * @default the fleet's
   */
  words(program: Program, side: Side = this.side): string[] {
    return [...side.command(program), "-c", this.configDir];
  }

  /** Makes sure that `count` simulated minions run, `sim-1` to `sim-<count>`, and starts the missing ones. */
  async simulate(count: number): Promise<void> {
    while (this.#simulated < count) {
      const more = Math.min(count - this.#simulated, SWARM_MINIONS);
      await this.startSwarm(this.#simulated + 1, more, ["--accept-in", this.pkiDir]);
      this.#simulated += more;
    }
  }

  /**
   * Starts a process of `count` simulated minions, `sim-<from>` and so on, and waits until they have signed in.
   * @param words More words for its command line.
   * @default their keys are accepted already
   */
  async startSwarm(from: number, count: number, words: readonly string[] = []): Promise<void> {
    const own = ["--json", "--minions", String(count), "--from", String(from)];
    own.push("--master", `${this.host}:${this.#ports.request}`, ...words);
    const output = `${this.root}/swarm-${this.#swarms.length}.out`;
    const swarm = Service.start("the swarm", [...benchCommand("fleets/swarm.ts"), ...own], output);
    this.#swarms.push(swarm);
    await eventually(() => {
      this.checkSwarms();
      return swarm.written.includes('"event":"ready"');
    }, { what: `${count} simulated minions`, withinMs: SIGNED_IN_MS });
  }

  /** The processes of simulated minions. */
  get swarms(): readonly Service[] {
    return this.#swarms;
  }

  /** @throws {Error} If a swarm has ended, with its output. */
  checkSwarms(): void {
    for (const swarm of this.#swarms) {
      if (swarm.exitCode !== undefined) throw new Error(`the swarm ended: ${swarm.written.slice(-2_000)}`);
    }
  }

  /**
   * Runs `work`.
   * @returns The share of the time that the busiest swarm used the processor. If it is near 1 or above (a swarm has
   * several threads), the swarm was the bottleneck.
   */
  async swarmBusy<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly busy: number }> {
    const before = this.#swarms.map(({ pid }) => treeCpuMs(pid));
    const started = performance.now();
    const result = await work();
    const ms = performance.now() - started;
    return { result, busy: Math.max(...this.#swarms.map(({ pid }, i) => (treeCpuMs(pid) - before[i]) / ms)) };
  }

  /** The report of each swarm about the job `jid`, when all of them have completed it. */
  async swarmJob(jid: string): Promise<SwarmJob[]> {
    return await eventually(() => {
      const jobs = this.#swarms.map(({ written }) => {
        const line = written.split("\n").find((text) => text.includes(`"jid":"${jid}"`));
        return line === undefined ? undefined : JSON.parse(line) as SwarmJob;
      });
      return jobs.every((job) => job !== undefined) ? jobs : undefined;
    }, { what: `the end of job ${jid}`, withinMs: UP_MS });
  }

  #start(program: Program, root: string, output: string, side: Side = this.side): Service {
    return Service.start(program, [...side.command(program), "-c", `${root}/etc/salt`], `${root}/${output}`);
  }

  #configure(root: string, name: "master" | "minion", options: Record<string, string | number>): void {
    Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
    const user = new TextDecoder().decode(new Deno.Command("id", { args: ["-un"] }).outputSync().stdout).trim();
    const all = {
      root_dir: root,
      user,
      ...name === "master" ? { interface: this.host } : {},
      ...options,
      ...this.#options,
    };
    const text = Object.entries(all).map(([key, value]) => `${key}: ${value}\n`).join("");
    Deno.writeTextFileSync(`${root}/etc/salt/${name}`, text);
  }

  /** Ends all processes. The root directory stays until {@linkcode removeRoots}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#swarms, ...this.#minions.values()].map((service) => service.stop()));
    await this.#api?.stop();
    await this.stopMaster();
    roots.push(this.root);
  }
}

const roots: string[] = [];

/** Adds a directory that {@linkcode removeRoots} removes. */
export function removeAtEnd(path: string): void {
  roots.push(path);
}

/**
 * Removes the directories of the fleets. Called only after the last row: ext4 does not reuse an inode in the first
 * minute after its file was removed, and checks each of thousands of such inodes for every file that the next row's
 * masters make.
 */
export function removeRoots(): void {
  for (const root of roots.splice(0)) Deno.removeSync(root, { recursive: true });
}
