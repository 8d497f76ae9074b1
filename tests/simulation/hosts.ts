/**
 * The hosts of a simulated fleet: each starts its process, starts it again when it has died, and may lose its power.
 * @module
 */

import { disk } from "#tests/simulation/world/disk.ts";
import type { Network } from "#tests/simulation/world/network.ts";
import { type Machine, newMachine, SimulatedProcess, world } from "#tests/simulation/world/world.ts";

/** A host: its machine, and the process that runs on it now. */
export interface Host {
  readonly name: string;
  readonly machine: Machine;
  process: SimulatedProcess;
  /** Called when its process dies, if its power fails at that moment. */
  powerFails: (() => void) | undefined;
}

/** How long a dead process stays away, in milliseconds. */
const AWAY_MS: readonly [number, number] = [200, 8_000];
/** The longest that one stays away, unless a longer time is given, in milliseconds. */
export const LONGEST_AWAY_MS = AWAY_MS[1];

/** What hosts are made of. */
export interface HostsParts {
  /** The directory of the fleet; each host has one of its name there. */
  readonly root: string;
  readonly network: Network;
  /** Called with the name of a host whose process has died. */
  onDeath(name: string): void;
}

/** See the module. */
export class Hosts {
  readonly masters: Host[] = [];
  readonly minions: Host[] = [];
  /** When something went wrong last, or a master began, in milliseconds of the world. */
  disturbedMs = 0;
  readonly #parts: HostsParts;
  /** How long a process stays away after its next death, in milliseconds, if that is decided. */
  readonly #awayMs = new Map<string, number>();
  /** Starts processes again; it never dies. */
  readonly keeper = new SimulatedProcess("keeper", newMachine());

  constructor(parts: HostsParts) {
    this.#parts = parts;
  }

  /** All of them, masters first. */
  get all(): readonly Host[] {
    return [...this.masters, ...this.minions];
  }

  /** The host of a name. */
  named(name: string): Host {
    const host = this.all.find((each) => each.name === name);
    if (host === undefined) throw new Error(`There is no host ${name}`);
    return host;
  }

  /** Starts a process on a new host, and again whenever it has died. */
  start(name: string, kind: "masters" | "minions", run: (process: SimulatedProcess) => void): void {
    const machine = newMachine();
    const start = (): SimulatedProcess => {
      const process = new SimulatedProcess(name, machine);
      process.onDeath = () => {
        world().note(`${name} died`);
        this.#parts.onDeath(name);
        this.disturbedMs = world().nowMs;
        this.#parts.network.forget(process);
        host.powerFails?.();
        const awayMs = this.#awayMs.get(name) ?? world().random.between(...AWAY_MS);
        this.#awayMs.delete(name);
        world().after(awayMs, () => host.process = start(), this.keeper);
      };
      world().note(`${name} starts`);
      world().within(process, () => run(process));
      return process;
    };
    const host: Host = { name, machine, process: new SimulatedProcess(name, machine), powerFails: undefined };
    this[kind].push(host);
    host.process = start();
  }

  /** Kills the process of a host, which stays away for a time in milliseconds. */
  killFor(name: string, ms: number): void {
    this.#awayMs.set(name, ms);
    this.named(name).process.kill();
  }

  /** A machine's power fails: what it runs dies. */
  cutPower(host: Host): void {
    host.powerFails = () => this.losePower(host);
    if (host.process.alive) host.process.kill();
    else host.powerFails();
  }

  /** The disk of a machine without power, which is started again with its process. */
  losePower(host: Host): void {
    host.powerFails = undefined;
    const { random } = world();
    world().note(`${host.name} loses its power`);
    disk().fail(`${this.#parts.root}/${host.name}`, {
      int: (below) => random.integer(0, below - 1),
      chance: (probability) => random.chance(probability),
    });
    host.machine.bootedMs = world().nowMs;
  }

  /** No process dies any more that was to die at one of its next calls of the disk. */
  spare(): void {
    for (const host of this.all) host.process.diesAfter = host.powerFails = undefined;
  }

  /** Ends all processes. */
  end(): void {
    for (const { process } of this.all) {
      process.onDeath = () => {};
      process.kill();
    }
  }
}
