/**
 * One seed's run: a master and minions, an operator who publishes jobs, and faults; then quiet until all is done, and
 * the comparison with what was promised.
 * @module
 */

import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { MIN_KEY_BITS } from "#lib/crypto/key_bits.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { createLogger, type Logger } from "#lib/runtime/log.ts";
import { beginDisk, disk, MOUNT } from "./disk.ts";
import { Ledger } from "./ledger.ts";
import { SimulatedMaster } from "./master.ts";
import { startMinion } from "./minion.ts";
import { beginNetwork, type Network } from "./network.ts";
import { runJob } from "./operator.ts";
import { beginWorld, type Machine, newMachine, SimulatedProcess, World } from "./world.ts";

/** The RSA keys of a fleet: made once, since they decide nothing. */
export interface FleetKeys {
  readonly master: PrivateKey;
  readonly minions: ReadonlyMap<string, PrivateKey>;
}

/** The least that is accepted: sign-ins are most of what a simulation computes. */
const KEY_BITS = MIN_KEY_BITS;

/** Makes the keys of a master and minions. */
export async function makeKeys(ids: readonly string[]): Promise<FleetKeys> {
  const minions = new Map<string, PrivateKey>();
  for (const id of ids) minions.set(id, await PrivateKey.generate(KEY_BITS));
  return { master: await PrivateKey.generate(KEY_BITS), minions };
}

/** What a run is told. */
export interface RunOptions {
  readonly seed: number;
  /** Number of jobs. */
  readonly jobs: number;
  readonly keys: FleetKeys;
  /** Gets the trace. */
  trace?(line: string): void;
}

/** What came of a run. */
export interface RunOutcome {
  readonly violations: readonly string[];
  readonly jobs: number;
  readonly runs: number;
  /** What the clients of jobs were told of minions, by the outcome. */
  readonly told: Readonly<Record<string, number>>;
  /** Faults by their kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** Seconds of the world. */
  readonly seconds: number;
  /** Differs if anything happened otherwise. */
  readonly hash: string;
}

/** Milliseconds from one job to the next. */
const JOB_EVERY_MS = 2_000;
/** The same where machines lose their power: so long that journals are closed, which they are after a minute. */
const POWER_JOB_EVERY_MS = 15_000;
/** The share of runs in which machines lose their power. */
const POWER_SHARE = 0.3;
/** Milliseconds after the last fault in which everything must be done. */
const QUIET_MS = 600_000;
/** How long a dead process stays away, in milliseconds. */
const AWAY_MS: readonly [number, number] = [200, 8_000];
/** The farthest jump of a clock, in milliseconds: two days, so that no return is dropped for its age (a week). */
const JUMP_MS = 2 * 86_400_000;
/** Calls of the disk after which an aimed kill comes. */
const AIM = 14;

/** A host: its machine, and the process that runs on it now. */
interface Host {
  readonly name: string;
  readonly machine: Machine;
  process: SimulatedProcess;
  /** Called when its process dies, if its power fails at that moment. */
  powerFails: (() => void) | undefined;
}

/** Runs one seed. */
export async function simulate(options: RunOptions): Promise<RunOutcome> {
  const fleet = new Fleet(options);
  try {
    return await fleet.run();
  } finally {
    fleet.end();
  }
}

/** The fleet of one run. */
class Fleet {
  readonly #options: RunOptions;
  readonly #world: World;
  readonly #network: Network;
  readonly #root: string;
  readonly #ledger = new Ledger();
  readonly #log: Logger;
  readonly #masterOpts;
  readonly #store;
  readonly #hosts: Host[] = [];
  readonly #operator = new SimulatedProcess("operator", newMachine());
  readonly #faults: Record<string, number> = {};
  #master: SimulatedMaster | undefined;
  /** Whether faults come, and dead processes may stay away. */
  #stormy = true;
  /** Whether machines lose their power in this run; then `durability` is `machine`. */
  readonly #losesPower: boolean;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#world = new World(options.seed, options.trace);
    beginWorld(this.#world);
    beginDisk();
    this.#losesPower = this.#world.random.chance(POWER_SHARE);
    // Another one for each seed: the code may remember paths for as long as the program runs.
    this.#root = `${MOUNT}/${options.seed}`;
    this.#network = beginNetwork();
    this.#log = createLogger([{
      level: 0,
      write: ({ message }) => options.trace?.(`  ${this.#world.process?.name ?? ""}: ${message}`),
      close: () => {},
    }]);
    this.#masterOpts = loadMasterConfig({
      configDir: `${this.#root}/master/etc/salt`,
      overrides: {
        ...this.#overrides("master"),
        id: "simulated_master",
        // A week: no job ends before the run does.
        job_ttl: 604_800,
        hash_type: "sha256",
      },
    }).opts;
    const { pki_dir, cachedir, sock_dir } = this.#masterOpts;
    for (const path of [`${pki_dir}/minions`, cachedir, sock_dir]) Deno.mkdirSync(path, { recursive: true });
    for (const [id, key] of options.keys.minions) {
      Deno.writeTextFileSync(`${pki_dir}/minions/${id}`, key.publicKey.pem);
    }
    disk().settle(this.#root);
    this.#store = jobStore(this.#masterOpts.cachedir, { hashType: this.#masterOpts.hash_type, log: () => {} });
  }

  /** Options of master and minions. */
  #overrides(name: string) {
    return {
      root_dir: `${this.#root}/${name}`,
      user: "root",
      durability: this.#losesPower ? "machine" : "process",
    };
  }

  async run(): Promise<RunOutcome> {
    const world = this.#world;
    this.#start("master", () => this.#startMaster());
    for (const id of this.#options.keys.minions.keys()) this.#start(id, (process) => this.#startMinion(id, process));
    // Everybody is there before the first job.
    await world.pass(5_000);
    for (let job = 0; job < this.#options.jobs; job++) {
      this.#disturb();
      world.within(
        this.#operator,
        () => void runJob({ opts: this.#masterOpts, log: this.#log, ledger: this.#ledger }, this.#target()),
      );
      await world.pass(world.nowMs + world.random.between(0, this.#losesPower ? POWER_JOB_EVERY_MS : JOB_EVERY_MS));
    }
    this.#stormy = false;
    for (const host of this.#hosts) host.process.diesAfter = host.powerFails = undefined;
    await world.pass(world.nowMs + 2 * AWAY_MS[1]);
    await world.pass(world.nowMs + QUIET_MS, () => this.#ledger.isComplete(this.#store));
    return {
      violations: this.#ledger.violations(this.#store),
      ...this.#ledger.counts,
      faults: this.#faults,
      seconds: world.nowMs / 1000,
      hash: world.hash,
    };
  }

  /** All minions, or one of them. */
  #target(): string {
    return this.#world.random.chance(0.5) ? "*" : this.#world.random.pick([...this.#options.keys.minions.keys()]);
  }

  /** Starts a process on a new host, and again whenever it has died. */
  #start(name: string, run: (process: SimulatedProcess) => void): void {
    const machine = newMachine();
    const start = (): SimulatedProcess => {
      const process = new SimulatedProcess(name, machine);
      process.onDeath = () => {
        this.#world.note(`${name} died`);
        this.#ledger.die(name);
        this.#network.forget(process);
        host.powerFails?.();
        this.#world.after(this.#world.random.between(...AWAY_MS), () => host.process = start(), this.#keeper);
      };
      this.#world.note(`${name} starts`);
      this.#world.within(process, () => run(process));
      return process;
    };
    const host: Host = { name, machine, process: new SimulatedProcess(name, machine), powerFails: undefined };
    this.#hosts.push(host);
    host.process = start();
  }

  /** Starts processes again; it never dies. */
  readonly #keeper = new SimulatedProcess("keeper", newMachine());

  #startMaster(): void {
    const host = this.#world.process;
    if (host === undefined) throw new Error("The master has no process");
    const { keys: { master: key } } = this.#options;
    SimulatedMaster.start({ process: host, opts: this.#masterOpts, key, log: this.#log }).then(
      (master) => this.#master = master,
      (error) => {
        // It died while it started.
        if (host.alive) throw error;
      },
    );
  }

  #startMinion(id: string, process: SimulatedProcess): void {
    const key = this.#options.keys.minions.get(id);
    if (key === undefined) throw new Error(`There is no key of ${id}`);
    const configDir = `${this.#root}/${id}/etc/salt`;
    const { opts } = loadMinionConfig({
      configDir,
      overrides: { ...this.#overrides(id), id, master: "127.0.0.1", random_reauth_delay: 0 },
    });
    for (const path of [opts.pki_dir, opts.cachedir]) Deno.mkdirSync(path, { recursive: true });
    startMinion({ process, opts, key, log: this.#log, ledger: this.#ledger, store: this.#store }).catch((error) => {
      if (process.alive) throw error;
    });
  }

  /** A machine's power fails: what it runs dies. */
  #cutPower(host: Host): void {
    host.powerFails = () => this.#losePower(host);
    if (host.process.alive) host.process.kill();
    else host.powerFails();
  }

  /** The disk of a machine without power, which is started again with its process. */
  #losePower(host: Host): void {
    host.powerFails = undefined;
    const { random } = this.#world;
    this.#world.note(`${host.name} loses its power`);
    disk().fail(`${this.#root}/${host.name}`, {
      int: (below) => random.integer(0, below - 1),
      chance: (probability) => random.chance(probability),
    });
    host.machine.bootedMs = this.#world.nowMs;
  }

  /** Sometimes something goes wrong, most of it while the next job is on its way. */
  #disturb(): void {
    const { random } = this.#world;
    const [fault, act] = random.pick(this.#kinds());
    if (!this.#stormy || random.chance(0.4)) return;
    this.#faults[fault] = (this.#faults[fault] ?? 0) + 1;
    this.#world.note(`fault: ${fault}`);
    act();
  }

  #kinds(): readonly (readonly [string, () => void])[] {
    const { random } = this.#world;
    const [master, ...minions] = this.#hosts;
    const aim = (host: Host) => host.process.diesAfter = random.integer(0, AIM);
    const aimPower = (host: Host, others: readonly Host[] = []) => {
      aim(host);
      host.powerFails = () => {
        this.#losePower(host);
        for (const other of others) this.#cutPower(other);
      };
    };
    const power: readonly (readonly [string, () => void])[] = [
      ["power of master", () => aimPower(master)],
      ["power of minion", () => aimPower(random.pick(minions))],
      ["power of all", () => aimPower(master, minions)],
    ];
    return [
      ...this.#losesPower ? [...power, ...power] : [],
      ["kill master", () => aim(master)],
      ["kill minion", () => aim(random.pick(minions))],
      ["kill minion", () => aim(random.pick(minions))],
      ["kill both", () => (aim(master), aim(random.pick(minions)))],
      ["cut", () => this.#network.wires.filter(() => random.chance(0.5)).forEach((each) => each.cut())],
      [
        "stall",
        () => this.#network.wires.forEach((each) => random.chance(0.5) && each.stall(random.between(0, 15_000))),
      ],
      ["rotate", () => master.process.alive && this.#world.within(master.process, () => this.#master?.rotate())],
      ["clock", () => random.pick(this.#hosts).machine.offsetMs += random.between(-JUMP_MS, JUMP_MS)],
    ];
  }

  /** Ends all processes. */
  end(): void {
    for (const { process } of this.#hosts) {
      process.onDeath = () => {};
      process.kill();
    }
    this.#operator.kill();
  }
}
