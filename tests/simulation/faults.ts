/**
 * What goes wrong in a simulated fleet while jobs are published: processes die, machines lose their power, wires are
 * cut, clocks jump, keys are rotated, and in a cluster the database is away.
 * @module
 */

import type { ModelDatabase } from "./database.ts";
import type { Host, Hosts } from "./hosts.ts";
import type { SimulatedMaster } from "./master.ts";
import type { Network } from "#tests/simulation/world/network.ts";
import { world } from "#tests/simulation/world/world.ts";

/** A day in milliseconds. */
export const DAY_MS = 86_400_000;
/**
 * How far a clock may be from the time, in milliseconds: two settings are less than a day from each other, as a minion
 * knows a job for a day.
 */
export const JUMP_MS = 0.49 * DAY_MS;
/** The farthest jump of a clock in a cluster, in milliseconds. */
const CLUSTER_JUMP_MS = 3_000;
/** How long the database, or the way to it, is away, and how long a master is stopped, in milliseconds. */
export const DATABASE_AWAY_MS = 20_000, STOPPED_MS = 20_000;
/** Calls of the disk after which an aimed kill comes. */
const AIM = 14;
/** How often nothing goes wrong. */
const NONE_SHARE = 0.4;

/** What faults are made in. */
export interface FaultsParts {
  readonly hosts: Hosts;
  readonly network: Network;
  /** What the masters share, if they are a cluster. */
  readonly database: ModelDatabase | undefined;
  /** Whether machines lose their power. */
  readonly losesPower: boolean;
  /** The master that runs on a host; `undefined` if none does. */
  masterOf(host: Host): SimulatedMaster | undefined;
  /** Has something done in the process of a master, if it runs. */
  inMaster(host: Host, run: (master: SimulatedMaster) => void): void;
}

/** A kind of fault, and what makes one. */
type Fault = readonly [kind: string, act: () => void];

/** See the module. */
export class Faults {
  readonly #parts: FaultsParts;
  readonly #counts: Record<string, number> = {};

  constructor(parts: FaultsParts) {
    this.#parts = parts;
  }

  /** How many there were of each kind. */
  get counts(): Readonly<Record<string, number>> {
    return this.#counts;
  }

  /** Sometimes something goes wrong, most of it while the next job is on its way. */
  disturb(): void {
    const { random } = world();
    const [kind, act] = random.pick(this.#possible());
    if (random.chance(NONE_SHARE)) return;
    this.#counts[kind] = (this.#counts[kind] ?? 0) + 1;
    world().note(`fault: ${kind}`);
    act();
  }

  #possible(): readonly Fault[] {
    const { random } = world();
    const { hosts, network, database, losesPower, masterOf, inMaster } = this.#parts;
    const { masters, minions } = hosts;
    const master = database === undefined ? masters[0] : random.pick(masters);
    const power = losesPower ? this.#powerFaults(master) : [];
    const jumpMs = database === undefined ? JUMP_MS : CLUSTER_JUMP_MS;
    return [
      ...database === undefined ? [] : clusterFaults(database, master),
      // Twice as likely as others.
      ...power,
      ...power,
      ["kill master", () => aim(master)],
      ["kill minion", () => aim(random.pick(minions))],
      ["kill minion", () => aim(random.pick(minions))],
      ["kill both", () => (aim(master), aim(random.pick(minions)))],
      ["cut", () => network.wires.filter(() => random.chance(0.5)).forEach((each) => each.cut())],
      ["stall", () => network.wires.forEach((each) => random.chance(0.5) && each.stall(random.between(0, 15_000)))],
      ["rotate", () => inMaster(master, (running) => rotate(running, { mayAnnounce: database === undefined }))],
      ["clock", () => random.pick(hosts.all).machine.offsetMs = random.between(-jumpMs, jumpMs)],
      ["lost publish", () => masterOf(master)?.losePublish()],
      ["new publisher", () => inMaster(master, (running) => running.renewPublisher())],
    ];
  }

  #powerFaults(master: Host): readonly Fault[] {
    const { hosts } = this.#parts;
    const aimPower = (host: Host, others: readonly Host[] = []) => {
      aim(host);
      host.powerFails = () => {
        hosts.losePower(host);
        for (const other of others) hosts.cutPower(other);
      };
    };
    return [
      ["power of master", () => aimPower(master)],
      ["power of minion", () => aimPower(world().random.pick(hosts.minions))],
      ["power of all", () => aimPower(master, hosts.minions)],
    ];
  }
}

/** The process of a host dies at one of its next calls of the disk. */
function aim(host: Host): void {
  host.process.diesAfter = world().random.integer(0, AIM);
}

function rotate(master: SimulatedMaster, { mayAnnounce }: { readonly mayAnnounce: boolean }): void {
  if (mayAnnounce && world().random.chance(0.5)) void master.announceAndRotate();
  else master.rotate();
}

function clusterFaults(database: ModelDatabase, master: Host): readonly Fault[] {
  const { random } = world();
  return [
    ["database away", () => database.goAway(random.between(500, DATABASE_AWAY_MS))],
    ["cut from database", () => database.cut(master.name, random.between(500, DATABASE_AWAY_MS))],
    ["stop master", () => master.process.pausedUntilMs = world().nowMs + random.between(500, STOPPED_MS)],
    ["kill master", () => master.process.kill()],
  ];
}
