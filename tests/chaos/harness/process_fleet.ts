/**
 * A master and minions as processes, started from the real entry points, below one temporary directory: they can be
 * killed, started again and inspected. The current user is the operator.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { jobStore, type StoredJobs } from "#tests/support/fleet/job_store.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { LocalClient } from "#lib/client/local.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { EXECUTABLES } from "#scripts/build/production.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type Ran, run, Service } from "#tests/support/processes.ts";
import { MADE_BITS, placeKey, takesMadeKey } from "#tests/support/fleet/keys.ts";

/** Options of a fleet. */
export interface ProcessFleetOptions {
  /** Number of minions: `m00`, `m01`, … */
  readonly minions: number;
  /** Options of the master besides those of every fleet. */
  readonly master?: Readonly<Record<string, unknown>>;
  /** Options of each minion besides those of every fleet. */
  readonly minion?: Readonly<Record<string, unknown>>;
  /**
   * The addresses of the master, and the prefixes of commands.
   * @default loopback
   */
  readonly places?: Places;
  /** Called before anything starts, with the directory of the fleet and the master's ports. */
  prepare?(root: string, ports: readonly [publish: number, request: number]): void;
}

export interface Places {
  /** The address that the master listens on. */
  readonly masterAddress: string;
  /** The address or name that the minions connect to. */
  readonly masterName: string;
  /** The prefix of the command that starts the master. */
  readonly master: readonly string[];
  /** The prefix of the command that starts a minion. */
  minion(id: string): readonly string[];
}

const LOOPBACK: Places = { masterAddress: "127.0.0.1", masterName: "127.0.0.1", master: [], minion: () => [] };

/** Short reconnection times, so that a fault does not take minutes; all other options have their defaults. */
const QUICK = { recon_default: 100, recon_max: 1_000, acceptance_wait_time: 0.5 };

const UP_MS = 60_000;
const STOP_MS = 10_000;
const SOURCES = new URL("../../..", import.meta.url).pathname;

/** The fleet. */
export class ProcessFleet implements AsyncDisposable {
  /** The directory that contains all files of the fleet. */
  readonly root: string;
  readonly ids: readonly string[];
  readonly #options: ProcessFleetOptions;
  readonly #places: Places;
  readonly #ports: readonly [publish: number, request: number] = [freePort(), freePort()];
  readonly #minions = new Map<string, Service>();
  #master: Service | undefined;

  private constructor(options: ProcessFleetOptions) {
    this.#options = options;
    this.#places = options.places ?? LOOPBACK;
    this.root = Deno.makeTempDirSync({ prefix: "chaos_" });
    Deno.chmodSync(this.root, 0o755); // a service that changes its user must be able to enter the directory
    this.ids = Array.from({ length: options.minions }, (_, i) => `m${String(i).padStart(2, "0")}`);
  }

  /** Starts a fleet; resolves when all its minions are connected. */
  static async start(options: ProcessFleetOptions): Promise<ProcessFleet> {
    const fleet = new ProcessFleet(options);
    try {
      options.prepare?.(fleet.root, fleet.#ports);
      fleet.configure("master", {});
      if (takesMadeKey(options.master)) await placeKey(`${fleet.configDir}/pki/master`, "master", "process_master");
      await fleet.startMaster();
      await Promise.all(fleet.ids.map((id) => fleet.startMinion(id)));
      await fleet.allPresent();
      return fleet;
    } catch (error) {
      const logs = fleet.lastWords();
      await fleet[Symbol.asyncDispose]();
      throw new Error(`${messageOf(error)}\n${logs}`, { cause: error });
    }
  }

  /** The master's options, as the operator's commands read them. */
  get masterOpts(): MasterOpts {
    return loadMasterConfig({ configDir: this.configDir }).opts;
  }

  /** The master's configuration directory. */
  get configDir(): string {
    return `${this.root}/master/etc/salt`;
  }

  /** The master's cache directory. */
  get cacheDir(): string {
    return `${this.root}/master/var/cache/salt/master`;
  }

  /** The master's job cache. A file that cannot be read was corrupted by a fault, and counts as missing. */
  get jobs(): StoredJobs {
    return jobStore(this.cacheDir, { log: () => {} });
  }

  /** The directory that the master serves to its minions. */
  get statesDir(): string {
    return `${this.root}/master/srv/salt`;
  }

  /** The master's process. */
  get master(): Service {
    if (this.#master === undefined) throw new Error("the master is not running");
    return this.#master;
  }

  minion(id: string): Service {
    const minion = this.#minions.get(id);
    if (minion === undefined) throw new Error(`${id} is not running`);
    return minion;
  }

  /** A minion's cache directory. */
  minionCacheDir(id: string): string {
    return `${this.root}/${id}/var/cache/salt/minion`;
  }

  /** The text of a node's log. */
  log(node: string): string {
    const role = node === "master" ? "master" : "minion";
    try {
      return Deno.readTextFileSync(`${this.root}/${node}/var/log/salt/${role}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return "";
      throw error;
    }
  }

  /** Starts the master; resolves when it is ready. */
  async startMaster(): Promise<void> {
    this.#master = this.#start("master", this.#places.master);
    const { sock_dir } = this.masterOpts;
    await this.#up("master", this.#master, () => serves(`${sock_dir}/publish_pull.ipc`, `${sock_dir}/ports.json`));
  }

  /** `kill -9`. */
  async killMaster(): Promise<void> {
    await this.master.crash();
    // The sign that a master is ready was left by the dead one.
    Deno.removeSync(`${this.masterOpts.sock_dir}/ports.json`);
  }

  /** Ends the master with SIGTERM, as an operator would. */
  async stopMaster(): Promise<void> {
    await this.#master?.stop(STOP_MS);
    this.#master = undefined;
  }

  /** Starts a minion whose key the master has accepted; does not wait until it is connected. */
  async startMinion(id: string, options: Readonly<Record<string, unknown>> = {}): Promise<void> {
    this.configure(id, options);
    const pkiDir = `${this.root}/${id}/etc/salt/pki/minion`;
    if (!lexistsOrThrow(pkiDir)) await placeKey(pkiDir, "minion", `process_${id}`);
    const key = await loadOrCreateKeyPair(pkiDir, "minion", MADE_BITS);
    new KeyStore(`${this.root}/master/etc/salt/pki/master`).put(id, "accepted", key.publicKey.pem);
    this.#minions.set(id, this.#start(id, this.#places.minion(id)));
  }

  /** Starts a minion that makes its own key; the master must accept it automatically. Does not wait. */
  startStranger(id: string, options: Readonly<Record<string, unknown>> = {}): Service {
    this.configure(id, options);
    const service = this.#start(id, this.#places.minion(id));
    this.#minions.set(id, service);
    return service;
  }

  /** Starts a node that is not running, and waits until it ends by itself. */
  runToEnd(node: string): Promise<Ran> {
    return run(this.startWords(node));
  }

  /** `kill -9`. */
  async killMinion(id: string): Promise<void> {
    await this.minion(id).crash();
  }

  /** Ends a minion with SIGTERM, as an operator would. */
  async stopMinion(id: string): Promise<void> {
    await this.#minions.get(id)?.stop(STOP_MS);
    this.#minions.delete(id);
  }

  /** The minions that the master counts as connected. */
  present(): string[] {
    return [...readPresence(this.cacheDir).present.keys()].sort();
  }

  /** Waits until the master counts `ids` as connected. */
  async allPresent(ids: readonly string[] = this.ids, withinMs = UP_MS): Promise<void> {
    const here = () => {
      const present = new Set(this.present());
      return ids.every((id) => present.has(id));
    };
    await eventually(here, { withinMs, what: `the connection of ${ids.length} minions`, everyMs: 50 });
  }

  /** A client of the master, in this process. */
  client(): Promise<LocalClient> {
    return LocalClient.connect(this.masterOpts, { user: "root", log: SILENT_LOGGER });
  }

  /** Runs one of the operator's commands to its end. */
  salt(program: "salt" | "salt-cp" | "salt-run" | "salt-key", ...args: string[]): Promise<Ran> {
    return run(this.saltWords(program, ...args));
  }

  /** Runs `salt-call` with a minion's configuration to its end. */
  saltCall(id: string, ...args: string[]): Promise<Ran> {
    return run([...programWords("salt-call"), "-c", `${this.root}/${id}/etc/salt`, ...args]);
  }

  /** The command that starts the master or a minion, as in a systemd unit. */
  startWords(node: string): string[] {
    const role = node === "master" ? "master" : "minion";
    return [...programWords(`salt-${role}`), "-c", `${this.root}/${node}/etc/salt`];
  }

  /** The command line of one of the operator's commands, or of the API. */
  saltWords(name: "salt" | "salt-api" | "salt-cp" | "salt-run" | "salt-key", ...args: string[]): string[] {
    return [...this.#places.master, ...programWords(name), "-c", this.configDir, ...args];
  }

  /** The last lines of each log, shown after an error. */
  lastWords(): string {
    return ["master", ...this.#minions.keys()].map((node) =>
      `\n${node}:\n${this.log(node).split("\n").slice(-12).join("\n")}`
    ).join("");
  }

  /** Writes the configuration of a node, which it reads at its start. */
  configure(node: string, options: Readonly<Record<string, unknown>>): void {
    const [publishPort, requestPort] = this.#ports;
    const { masterAddress, masterName } = this.#places;
    const role = node === "master" ? "master" : "minion";
    const own = node === "master"
      ? {
        interface: masterAddress,
        publish_port: publishPort,
        ret_port: requestPort,
        file_roots: { base: [this.statesDir] },
        ...this.#options.master,
      }
      : { id: node, master: masterName, master_port: requestPort, ...QUICK, ...this.#options.minion };
    const directory = `${this.root}/${node}`;
    Deno.mkdirSync(`${directory}/etc/salt`, { recursive: true });
    const settings = { root_dir: directory, log_level_logfile: "info", log_level: "quiet", ...own, ...options };
    const lines = Object.entries(settings).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
    Deno.writeTextFileSync(`${directory}/etc/salt/${role}`, lines.join(""));
  }

  #start(node: string, place: readonly string[]): Service {
    return Service.start(node, [...place, ...this.startWords(node)], `${this.root}/${node}/output`);
  }

  async #up(node: string, service: Service, isUp: () => boolean | Promise<boolean>): Promise<void> {
    const what = `${node} to serve`;
    await eventually(async () => service.exitCode !== undefined || await isUp(), { withinMs: UP_MS, what });
    if (service.exitCode !== undefined) throw new Error(`${node} ended with ${service.exitCode}: ${service.written}`);
  }

  /** Ends all processes and removes the directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#minions.keys()].map((id) => this.stopMinion(id)));
    await this.stopMaster();
    if (Deno.env.get("CHAOS_KEEP") === undefined) Deno.removeSync(this.root, { recursive: true });
  }
}

/** The command of a program: the sources, or the executables in the directory `SALT_DIST`. */
export function programWords(name: string): string[] {
  const dist = Deno.env.get("SALT_DIST");
  if (dist !== undefined) return [`${dist}/${name}`];
  const executable = EXECUTABLES.find((one) => one.name === name || one.links.some((link) => link === name));
  if (executable === undefined) throw new RangeError(`no entry answers to ${name}`);
  const run = [Deno.execPath(), ...DENO_RUN, `${SOURCES}${executable.entry}`];
  return executable.name === name ? run : [...run, "--as", name];
}

async function serves(socket: string, ports: string): Promise<boolean> {
  try {
    Deno.statSync(ports);
    (await Deno.connect({ transport: "unix", path: socket })).close();
    return true;
  } catch {
    return false; // not yet
  }
}
