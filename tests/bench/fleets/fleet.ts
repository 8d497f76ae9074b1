/**
 * A master of one implementation with real or simulated minions, in a temporary root of its own.
 *
 * The configuration is the default but for root, ports and user. Keys are accepted before a minion comes.
 * @module
 */

import { loadOrCreateKeyPair } from "../../../lib/keys/pair.ts";
import { KeyStore } from "../../../lib/keys/store.ts";
import { clearRequest } from "../../../lib/protocol/payload.ts";
import { RequestChannel, tcpAddress } from "../../../lib/sockets/request_channel.ts";
import { map } from "../../../lib/values/value.ts";
import { freePort } from "../../../scripts/fleet/free_port.ts";
import { eventually } from "../../support/eventually.ts";
import { Service } from "../../support/processes.ts";
import { treeCpuMs } from "../harness/process_figures.ts";
import { run } from "../harness/processes.ts";
import { benchCommand, type Program, type Side } from "../harness/sides.ts";
import type { SwarmJob } from "./swarm_jobs.ts";

const HOST = "127.0.0.1";
/** How long anything may take to come up, in milliseconds. */
const UP_MS = 120_000;

/** Simulated minions in one process: each has several sockets, and a process may often have 20,000 files open. */
const SWARM_MINIONS = 1_700;

/** A fleet; nothing runs until it is started. */
export class Fleet {
  /** Which side's programs run. */
  readonly side: Side;
  /** The directory that everything is in. */
  readonly root: string = Deno.makeTempDirSync({ prefix: "bench_" });
  readonly #ports = { publish: freePort(), request: freePort() };
  readonly #minions = new Map<string, Service>();
  readonly #swarms: Service[] = [];
  #simulated = 0;
  #master: Service | undefined;

  /** Options of master and minions besides those of every fleet. */
  #options: Readonly<Record<string, string>> = {};

  /** Writes the master's configuration. */
  constructor(side: Side) {
    this.side = side;
    this.#configureMaster();
    // The master's own, which it would only make in its first second.
    Deno.mkdirSync(`${this.pkiDir}/minions`, { recursive: true, mode: 0o700 });
  }

  /** Gives master and minions more options; before any of them is started. */
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

  /** The master, which must have been started. */
  get master(): Service {
    if (this.#master === undefined) throw new Error("no master runs");
    return this.#master;
  }

  /** Starts the master. @returns Milliseconds until it answered a request. */
  async startMaster(): Promise<number> {
    const started = performance.now();
    this.#master = this.#start("salt-master", this.root, "master.out");
    using channel = new RequestChannel(tcpAddress(HOST, this.#ports.request), { reconnectMs: 10, reconnectMaxMs: 10 });
    await channel.request(clearRequest(map({ cmd: "ping" })), { timeoutMs: UP_MS, tries: 1 });
    return performance.now() - started;
  }

  /** Where clients and minions send requests: host and port. */
  get requestAddress(): { readonly host: string; readonly port: number } {
    return { host: HOST, port: this.#ports.request };
  }

  /** The master's `sock_dir`. */
  get sockDir(): string {
    return `${this.root}/var/run/salt/master`;
  }

  async stopMaster(): Promise<void> {
    await this.#master?.stop();
    this.#master = undefined;
  }

  /** Ends the master as a failing machine does: every process of it, at once. */
  async killMaster(): Promise<void> {
    await this.#master?.kill();
    this.#master = undefined;
  }

  /** Prepares a minion: its configuration, its key, and the key's acceptance. */
  async prepareMinion(id: string): Promise<string> {
    const root = `${this.root}/${id}`;
    this.#configure(root, "minion", { id, master: HOST, master_port: this.#ports.request });
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

  /** Waits until every minion of `target` answers, twice: what the first job warms up is not to be measured. */
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

  /** The words of a command on this master. @param side Whose command. Default: the fleet's. */
  words(program: Program, side: Side = this.side): string[] {
    return [...side.command(program), "-c", this.configDir];
  }

  /** Has so many simulated minions, `sim-1` to `sim-<count>`; as many as are missing are started. */
  async simulate(count: number): Promise<void> {
    while (this.#simulated < count) {
      const more = Math.min(count - this.#simulated, SWARM_MINIONS);
      const words = [...benchCommand("fleets/swarm.ts"), "--json", "--minions", String(more)];
      words.push("--from", String(this.#simulated + 1), "--master", `${HOST}:${this.#ports.request}`);
      words.push("--accept-in", this.pkiDir);
      const swarm = Service.start("the swarm", words, `${this.root}/swarm-${this.#swarms.length}.out`);
      this.#swarms.push(swarm);
      await eventually(() => {
        this.checkSwarms();
        return swarm.written.includes('"event":"ready"');
      }, { what: `${more} simulated minions`, withinMs: UP_MS });
      this.#simulated += more;
    }
  }

  /** @throws {Error} If a swarm has ended, with what it said. */
  checkSwarms(): void {
    for (const swarm of this.#swarms) {
      if (swarm.exitCode !== undefined) throw new Error(`the swarm ended: ${swarm.written.slice(-2_000)}`);
    }
  }

  /**
   * Runs `work`, and tells what part of the time the busiest of the swarms was at work itself: near 1 (or above, as it has
   * more threads than one), it is the swarm that was measured.
   */
  async swarmBusy<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly busy: number }> {
    const before = this.#swarms.map(({ pid }) => treeCpuMs(pid));
    const started = performance.now();
    const result = await work();
    const ms = performance.now() - started;
    return { result, busy: Math.max(...this.#swarms.map(({ pid }, i) => (treeCpuMs(pid) - before[i]) / ms)) };
  }

  /** What each of the swarms says of the job `jid`, when all of them have done with it. */
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
    const all = { root_dir: root, user, ...name === "master" ? { interface: HOST } : {}, ...options, ...this.#options };
    const text = Object.entries(all).map(([key, value]) => `${key}: ${value}\n`).join("");
    Deno.writeTextFileSync(`${root}/etc/salt/${name}`, text);
  }

  /** Ends everything. The root stays until {@linkcode removeRoots}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#swarms, ...this.#minions.values()].map((service) => service.stop()));
    await this.stopMaster();
    roots.push(this.root);
  }
}

const roots: string[] = [];

/** Has {@linkcode removeRoots} remove one more directory. */
export function removeAtEnd(path: string): void {
  roots.push(path);
}

/**
 * Removes what the fleets wrote. After the last row alone: ext4 does not use an inode again in the first minute after its
 * file was removed, and looks at each of thousands of them for every file that the next row's masters make.
 */
export function removeRoots(): void {
  for (const root of roots.splice(0)) Deno.removeSync(root, { recursive: true });
}
