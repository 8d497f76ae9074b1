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
import { beginDisk, disk, MOUNT } from "#tests/simulation/world/disk.ts";
import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { type LeaseName, LEASES } from "#lib/cluster/lease_flags.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { jidMemory, shareJids } from "#lib/protocol/jid.ts";
import { Calm, type CalmParts, keepsStrangeReturn, writeStrangeJobs, writeStrangeReturn } from "./calm.ts";
import { beginDatabase } from "./database.ts";
import { brokenEvents, eventEnds } from "./event_check.ts";
import { DATABASE_AWAY_MS, DAY_MS, Faults, JUMP_MS, STOPPED_MS } from "./faults.ts";
import { type Host, Hosts, LONGEST_AWAY_MS } from "./hosts.ts";
import { type Counts, Ledger, type StoredReturns } from "./ledger.ts";
import { KeyOperator } from "./key_operator.ts";
import { SimulatedMaster } from "./master.ts";
import type { ClusterParts } from "./member.ts";
import { type SimulatedMinion, startMinion } from "./minion.ts";
import { beginNetwork, type Network } from "#tests/simulation/world/network.ts";
import { publishJob, runJob } from "./operator.ts";
import { PublishCheck } from "./publish_check.ts";
import { fireOrder, loggedOrders, ORDER_MAP } from "./reactor.ts";
import { beginWorld, newMachine, SimulatedProcess, World } from "#tests/simulation/world/world.ts";

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
export interface RunOutcome extends Counts {
  readonly violations: readonly string[];
  /** Faults by their kind. */
  readonly faults: Readonly<Record<string, number>>;
  /** Seconds of the world. */
  readonly seconds: number;
  /** Differs if anything happened otherwise. */
  readonly hash: string;
}

/** The processes of masters. */
const MASTERS = ["master", "master2"];
/** The share of runs with a cluster of two masters. */
const CLUSTER_SHARE = 0.3;
/** Milliseconds from one job to the next. */
const JOB_EVERY_MS = 2_000;
/** The same where machines lose their power: so long that journals are closed, which they are after a minute. */
const POWER_JOB_EVERY_MS = 15_000;
/** The share of runs in which machines lose their power. */
const POWER_SHARE = 0.3;
/** Milliseconds after the last fault in which everything must be done. */
const QUIET_MS = 600_000;
/** How long an event takes to the other masters at most, in milliseconds. */
const EVENTS_MS = 5_000;
/** The share of runs in which minions keep few returns; how many bytes, and for how many seconds. */
const FEW_SHARE = 0.15, FEW_BYTES = 900, FEW_S = 6 * 3_600;
/** The share of jobs that may be delivered for a short time, and for how many seconds. */
const BRIEF_SHARE = 0.4, BRIEF_S = [5, 20, 60, 90];
/** How often a master finds something strange among its undelivered jobs. */
const STRANGE_SHARE = 0.2;
/** How long nothing has gone wrong when a minion gets what it has missed at once, and within which time, in ms. */
const CALM_MS = 3_000, ARRIVAL_MS = 1_000;
/** What nobody else may read. */
const PRIVATE = /\/\.?(?:undelivered|returns|jids)/;

/** Where a master is. */
function addressOf(name: string): string {
  return `127.0.0.${MASTERS.indexOf(name) + 1}`;
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
  readonly #masterOpts: readonly MasterOpts[];
  readonly #store: StoredReturns;
  readonly #hosts: Hosts;
  readonly #operator = new SimulatedProcess("operator", newMachine());
  readonly #faults: Faults;
  readonly #masters: (SimulatedMaster | undefined)[] = [];
  /** What the masters share, if there are two. */
  readonly #cluster: (Omit<ClusterParts, "origin" | "onLease" | "onPush">) | undefined;
  readonly #keyOperator: KeyOperator | undefined;
  /** Whether faults come. */
  #stormy = true;
  readonly #publishes: PublishCheck;
  readonly #minions = new Map<string, SimulatedMinion>();
  /** The cache directories of minions. */
  readonly #caches = new Map<string, string>();
  /** Whether minions may keep few returns in this run. */
  readonly #keepsFew: boolean;
  /** Whether minions wait for an answer for a few seconds only, in this run. */
  readonly #isQuick: boolean;
  /** Whether machines lose their power in this run; then `durability` is `machine`. */
  readonly #losesPower: boolean;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#world = new World(options.seed, options.trace);
    beginWorld(this.#world);
    beginDisk();
    const isCluster = this.#world.random.chance(CLUSTER_SHARE);
    this.#losesPower = !isCluster && this.#world.random.chance(POWER_SHARE);
    this.#keepsFew = this.#world.random.chance(FEW_SHARE);
    this.#isQuick = this.#world.random.chance(0.5);
    if (isCluster) {
      this.#cluster = { database: beginDatabase(), root: new Uint8Array(32).fill(7), sharedKey: new SharedKey() };
      shareJids(jidMemory());
    }
    // Another one for each seed: the code may remember paths for as long as the program runs.
    this.#root = `${MOUNT}/${options.seed}`;
    this.#network = beginNetwork();
    this.#hosts = new Hosts({ root: this.#root, network: this.#network, onDeath: (name) => this.#ledger.die(name) });
    this.#faults = new Faults({
      hosts: this.#hosts,
      network: this.#network,
      database: this.#cluster?.database,
      losesPower: this.#losesPower,
      masterOf: (host) => this.#masterOf(host),
      inMaster: (host, run) => this.#inMaster(host, run),
    });
    this.#log = createLogger([{
      level: 0,
      write: ({ message }) => {
        options.trace?.(`  ${this.#world.process?.name ?? ""}: ${message}`);
        this.#hear(message);
      },
      close: () => {},
    }]);
    this.#publishes = new PublishCheck((text) => this.#ledger.breaks(text), {
      log: this.#log,
      masterKey: options.keys.master.publicKey,
      pausesMs: isCluster ? DATABASE_AWAY_MS + STOPPED_MS : this.#losesPower ? Infinity : 0,
    });
    disk().onMade = (path, mode) => {
      if (PRIVATE.test(path) && (mode & 0o077) !== 0) {
        this.#ledger.breaks(`others may read ${path.replace(/\d{5,}.*/, "")}`);
      }
    };
    this.#masterOpts = (isCluster ? MASTERS : MASTERS.slice(0, 1)).map((name) => this.#optsOf(name));
    for (const { pki_dir, cachedir, sock_dir } of this.#masterOpts) {
      for (const path of [`${pki_dir}/minions`, cachedir, sock_dir]) Deno.mkdirSync(path, { recursive: true });
      for (const [id, key] of options.keys.minions) {
        Deno.writeTextFileSync(`${pki_dir}/minions/${id}`, key.publicKey.pem);
      }
    }
    disk().settle(this.#root);
    const [{ cachedir, hash_type: hashType }] = this.#masterOpts;
    this.#keyOperator = this.#cluster && new KeyOperator({
      ...this.#cluster,
      masters: this.#masterOpts,
      log: this.#log,
      pems: [...options.keys.minions.values()].map(({ publicKey }) => publicKey.pem),
      breaks: (text) => this.#ledger.breaks(text),
    });
    this.#store = this.#cluster?.database ?? jobStore(cachedir, { hashType, log: () => {} });
  }

  #optsOf(name: string): MasterOpts {
    return loadMasterConfig({
      configDir: `${this.#root}/${name}/etc/salt`,
      overrides: {
        ...this.#overrides(name),
        id: `simulated_${name}`,
        // A week: no job ends before the run does.
        job_ttl: 604_800,
        hash_type: "sha256",
        event_log_keep: 604_800,
        reactor: ORDER_MAP,
        ...this.#cluster && {
          master_job_cache: "postgresql",
          cluster_id: "simulated",
          interface: addressOf(name),
          // The publish key is one for all masters here, without a row.
          rotate_aes_key: false,
        },
      },
    }).opts;
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
    for (const [i] of this.#masterOpts.entries()) {
      this.#hosts.start(MASTERS[i], "masters", (process) => this.#startMaster(i, process));
    }
    for (const id of this.#options.keys.minions.keys()) {
      this.#hosts.start(id, "minions", (process) => this.#startMinion(id, process));
    }
    // Everybody is there before the first job.
    await world.pass(5_000);
    const begins = eventEnds(this.#masterOpts);
    for (let job = 0; job < this.#options.jobs; job++) {
      this.#faults.disturb();
      world.within(this.#operator, () => {
        this.#publish();
        this.#order(job);
        void this.#keyOperator?.change();
      });
      await world.pass(world.nowMs + world.random.between(0, this.#losesPower ? POWER_JOB_EVERY_MS : JOB_EVERY_MS));
    }
    this.#stormy = false;
    this.#ledger.calm();
    this.#hosts.spare();
    this.#cluster?.database.goAway(0);
    await world.pass(world.nowMs + 2 * LONGEST_AWAY_MS);
    this.#ledger.promiseOrders(this.#masterOpts.flatMap((opts) => loggedOrders(opts)));
    const done = await world.pass(world.nowMs + QUIET_MS, () => this.#ledger.isComplete(this.#store));
    if (done) {
      const calm = new Calm(this.#calmParts());
      await calm.run();
      await calm.sendAgain();
      for (const [id, cachedir] of this.#caches) {
        if (keepsStrangeReturn(cachedir)) this.#ledger.breaks(`what is no return stays in the spool of ${id}`);
      }
    }
    if (this.#cluster !== undefined) {
      this.#checkLeases();
      this.#keyOperator?.check();
      const ends = eventEnds(this.#masterOpts);
      await world.pass(world.nowMs + EVENTS_MS);
      brokenEvents(this.#masterOpts, begins, ends).forEach((text) => this.#ledger.breaks(text));
    }
    return {
      violations: this.#ledger.violations(this.#store),
      ...this.#ledger.counts,
      faults: this.#faults.counts,
      seconds: world.nowMs / 1000,
      hash: world.hash,
    };
  }

  #publish(): void {
    const i = this.#cluster === undefined ? 0 : this.#world.random.integer(0, this.#masterOpts.length - 1);
    const parts = { opts: this.#masterOpts[i], log: this.#log, ledger: this.#ledger, master: MASTERS[i] };
    const { random } = this.#world;
    const ttlS = random.chance(BRIEF_SHARE) ? random.pick(BRIEF_S) : undefined;
    void runJob(parts, { tgt: this.#target(), isSigned: random.chance(0.1), ...ttlS !== undefined && { ttlS } });
  }

  #calmParts(): CalmParts {
    const { keys } = this.#options, ids = [...keys.minions.keys()];
    const found = <T>(thing: T | undefined): T => {
      if (thing === undefined) throw new Error("A process does not run");
      return thing;
    };
    return {
      ledger: this.#ledger,
      store: this.#store,
      network: this.#network,
      publishes: this.#publishes,
      opts: this.#masterOpts,
      keys: { master: keys.master, other: found(keys.minions.get(ids[0])) },
      ids,
      isQuick: this.#isQuick,
      database: this.#cluster?.database,
      master: (i) => found(this.#masters[i]),
      inMaster: (i, run) => this.#inMaster(this.#hosts.masters[i], run),
      minion: (id) => found(this.#minions.get(id)),
      keepsFew: this.#keepsFew,
      forward: (id, ms) => {
        this.#hosts.named(id).machine.offsetMs += ms;
      },
      passDay: () => {
        for (const { machine } of this.#hosts.minions) machine.offsetMs = JUMP_MS + DAY_MS;
      },
      away: (name, ms) => this.#hosts.killFor(name, ms),
      publish: (job, { master: i, isPromised }) =>
        this.#world.within(this.#operator, async () => {
          const parts = { opts: this.#masterOpts[i], log: this.#log, ledger: this.#ledger, master: MASTERS[i] };
          const { client, job: { jid } } = await publishJob(parts, job, { isTold: false, isPromised });
          client[Symbol.dispose]();
          return jid;
        }),
      sealRow: (bytes) => new RootKeys(found(this.#cluster).root).seal("publishes", bytes),
      breaks: (text) => this.#ledger.breaks(text),
    };
  }

  /** What the log says must be true, too. */
  #hear(message: string): void {
    const id = this.#world.process?.name ?? "";
    const [, dropped] = /^Dropped the return of job (\d+)/.exec(message) ?? [];
    if (dropped !== undefined) {
      if (!this.#keepsFew) this.#ledger.breaks(`${id} drops the return of ${dropped}`);
      this.#ledger.drop(dropped, id);
    }
    if (this.#minions.get(id)?.isEnding && /^The return of job \d+ waits/.test(message)) {
      this.#ledger.breaks(`${id} says of a return that it waits when it ends`);
    }
    const [, jid, missed] = /^Job (\d+) ended before \d+ minions had it, while no master ran: (.*)$/.exec(message) ??
      [];
    // What another master has stored is not known while the database is away.
    if (this.#cluster !== undefined) return;
    for (const each of missed?.split(", ") ?? []) {
      if (each === "" || this.#store.has(jid, each)) {
        this.#ledger.breaks(`the log says that ${each} missed ${jid}`);
      }
    }
  }

  /** A minion that was away gets at once what it has missed, unless something else goes wrong. */
  #arrive(ids: readonly string[]): void {
    const arrivedMs = this.#world.nowMs;
    if (this.#cluster !== undefined || this.#stormy || arrivedMs - this.#hosts.disturbedMs < CALM_MS) return;
    for (const id of ids) {
      const jids = this.#ledger.waitingFor(id, 2 * ARRIVAL_MS / 1000);
      this.#world.after(ARRIVAL_MS, () => {
        if (this.#hosts.disturbedMs > arrivedMs) return;
        for (const jid of jids) {
          if (!this.#ledger.hasGot(jid, id)) this.#ledger.breaks(`${id} is there, and has not got ${jid}`);
        }
      }, this.#hosts.keeper);
    }
  }

  /** Fires an event that the reactor answers with a job. */
  #order(order: number): void {
    const { random } = this.#world;
    const opts = this.#cluster === undefined ? this.#masterOpts[0] : random.pick(this.#masterOpts);
    void fireOrder(opts, order, random.pick([...this.#options.keys.minions.keys()]));
  }

  /** When nothing goes wrong, somebody holds each lease. */
  #checkLeases(): void {
    for (const name of LEASES) {
      if (!this.#masters.some((master) => master?.member?.flags.holds(name))) {
        this.#ledger.breaks(`nobody holds the lease ${name}`);
      }
    }
  }

  /** One master at a time holds a lease. */
  #onLease(own: number, name: LeaseName): void {
    const others = this.#masters.filter((master, i) =>
      i !== own && this.#hosts.masters[i].process.alive && master?.member?.flags.holds(name)
    );
    if (others.length > 0) this.#ledger.breaks(`two masters hold the lease ${name}`);
  }

  /** All minions, or one of them. */
  #target(): string {
    return this.#world.random.chance(0.5) ? "m*" : this.#world.random.pick([...this.#options.keys.minions.keys()]);
  }

  #startMaster(i: number, process: SimulatedProcess): void {
    const { keys: { master: key } } = this.#options;
    const pushed = new Set<string>();
    const cluster = this.#cluster && {
      ...this.#cluster,
      origin: i + 1,
      onPush: (jid: string) => {
        const text = `${jid} is given to the Publisher of ${MASTERS[i]} twice`;
        if (pushed.has(jid)) this.#ledger.breaks(text);
        pushed.add(jid);
      },
      onLease: (name: LeaseName, holds: boolean) => holds && this.#onLease(i, name),
    };
    this.#masters[i] = undefined;
    this.#hosts.disturbedMs = this.#world.nowMs;
    if (this.#world.random.chance(STRANGE_SHARE)) writeStrangeJobs(this.#masterOpts[i], key);
    SimulatedMaster.start({
      process,
      opts: this.#masterOpts[i],
      key,
      log: this.#log,
      onOrder: (order, jid) => this.#ledger.order(order, jid),
      onPublish: (published) => this.#publishes.note(published),
      onArrivals: (ids) => this.#arrive(ids),
      ...cluster && { cluster },
    }).then(
      (master) => this.#masters[i] = master,
      (error) => {
        // It died while it started.
        if (process.alive) throw error;
      },
    );
  }

  #startMinion(id: string, process: SimulatedProcess): void {
    const key = this.#options.keys.minions.get(id);
    if (key === undefined) throw new Error(`There is no key of ${id}`);
    const configDir = `${this.#root}/${id}/etc/salt`;
    const { opts } = loadMinionConfig({
      configDir,
      overrides: {
        ...this.#overrides(id),
        id,
        master: "127.0.0.1",
        random_reauth_delay: 0,
        sign_pub_messages: true,
        // So few that a new generation of ids begins.
        minion_jid_queue_hwm: 3,
        ...this.#isQuick && { request_channel_timeout: 5, request_channel_tries: 1 },
        ...this.#keepsFew && { return_spool_max_size: FEW_BYTES, return_spool_max_age: FEW_S },
      },
    });
    for (const path of [opts.pki_dir, opts.cachedir]) Deno.mkdirSync(path, { recursive: true });
    if (this.#world.random.chance(STRANGE_SHARE)) writeStrangeReturn(opts.cachedir);
    this.#caches.set(id, opts.cachedir);
    // The first one that answers serves it; each minion begins with another.
    const masters = this.#masterOpts.map((_, i) => addressOf(MASTERS[i]));
    if (this.#cluster !== undefined && this.#world.random.chance(0.5)) masters.reverse();
    const parts = {
      process,
      opts,
      key,
      log: this.#log,
      ledger: this.#ledger,
      store: this.#store,
      masters,
      onMade: (minion: SimulatedMinion) => this.#minions.set(id, minion),
    };
    startMinion(parts).catch((error) => {
      if (process.alive) throw error;
    });
  }

  #masterOf(host: Host): SimulatedMaster | undefined {
    return host.process.alive ? this.#masters[this.#hosts.masters.indexOf(host)] : undefined;
  }

  #inMaster(host: Host, run: (master: SimulatedMaster) => void): void {
    const master = this.#masterOf(host);
    if (master !== undefined) this.#world.after(0, () => run(master), host.process);
  }

  /** Ends all processes. */
  end(): void {
    this.#hosts.end();
    this.#operator.kill();
    this.#cluster?.database[Symbol.dispose]();
  }
}
