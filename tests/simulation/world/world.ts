/**
 * The simulated world: one clock, one queue of what will happen, and processes that can die between two calls of the
 * system. Nothing happens but what the queue holds, so a seed decides everything.
 *
 * A process is a context of `AsyncLocalStorage`: its timers and its calls of the disk know whose they are. It dies by
 * losing its timers and messages, and because each later call of the disk throws {@linkcode ProcessDied}.
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers";
import { Random } from "./random.ts";

/** What a call of the disk throws in a process that is dead. */
export class ProcessDied extends Error {
  override readonly name = "ProcessDied";
}

/** The clocks of a simulated machine. */
export interface Machine {
  /** How far its wall clock is from that of the world, in milliseconds. */
  offsetMs: number;
  /** When it was booted, in milliseconds of the world. */
  bootedMs: number;
}

/** A machine that was booted when the world began. */
export function newMachine(): Machine {
  return { offsetMs: 0, bootedMs: 0 };
}

/** A simulated process. */
export class SimulatedProcess {
  readonly name: string;
  /** The machine that it runs on. */
  readonly host: Machine;
  alive = true;
  /** Number of changing calls of the disk until it dies; `undefined`: it does not. */
  diesAfter: number | undefined;
  /** Until when it does nothing, in milliseconds of the world: it was stopped, or waits for a processor. */
  pausedUntilMs = 0;
  /** Called once when it dies. */
  onDeath: () => void = () => {};

  /** Makes a process of a host. */
  constructor(name: string, host: Machine) {
    this.name = name;
    this.host = host;
  }

  /** Ends it, as `kill -9` does. */
  kill(): void {
    if (!this.alive) return;
    this.alive = false;
    this.onDeath();
  }
}

/** What will happen, and in which process. */
interface Event {
  atMs: number;
  readonly serial: number;
  readonly process: SimulatedProcess | undefined;
  readonly run: () => void;
}

/** The shortest time that passes. */
const TICK_MS = 0.001;

/** 2026-01-01T00:00:00Z, the wall clock at the start. */
const START_MS = 1_767_225_600_000;

/** A run of the simulation. */
export class World {
  readonly random: Random;
  readonly #contexts = new AsyncLocalStorage<SimulatedProcess>();
  readonly #queue: Event[] = [];
  #nowMs = 1_000;
  #serial = 0;
  #hash = 0xcbf29ce484222325n;
  /** Gets a line for each step, for `--trace`. */
  readonly #trace: (line: string) => void;

  /** @param seed Decides everything that happens. */
  constructor(seed: number, trace: (line: string) => void = () => {}) {
    this.random = new Random(seed);
    this.#trace = trace;
  }

  /** Milliseconds since the world began: the clock of the boot, which never jumps. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** The wall clock of the current process's host, in milliseconds since the epoch. */
  get wallMs(): number {
    return Math.floor(START_MS + this.#nowMs + (this.process?.host.offsetMs ?? 0));
  }

  /** The process that runs now. */
  get process(): SimulatedProcess | undefined {
    return this.#contexts.getStore();
  }

  /** A number that differs if anything that {@linkcode note} was told differs. */
  get hash(): string {
    return this.#hash.toString(16).padStart(16, "0");
  }

  /** Writes a line of the trace. */
  note(text: string): void {
    const line = `${this.#nowMs.toFixed(3)} ${text}`;
    for (let i = 0; i < line.length; i++) {
      this.#hash = BigInt.asUintN(64, (this.#hash ^ BigInt(line.charCodeAt(i))) * 0x100000001b3n);
    }
    this.#trace(line);
  }

  /**
   * Has `run` called in `ms` milliseconds, in this process; not if that is dead by then.
   * @returns Takes it back.
   */
  after(ms: number, run: () => void, process: SimulatedProcess | undefined = this.process): () => void {
    // A difference of two times may be so small that it changes nothing when it is added again.
    const atMs = this.#nowMs + (ms > 0 ? Math.max(ms, TICK_MS) : 0);
    const event: Event = { atMs, serial: this.#serial++, process, run };
    this.#insert(event);
    return () => {
      const at = this.#queue.indexOf(event);
      if (at >= 0) this.#queue.splice(at, 1);
    };
  }

  /** The queue is sorted, the earliest last; two of one moment happen in the order in which they were put there. */
  #insert(event: Event): void {
    let low = 0, high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.#queue[middle];
      if (other.atMs > event.atMs || other.atMs === event.atMs && other.serial > event.serial) low = middle + 1;
      else high = middle;
    }
    this.#queue.splice(low, 0, event);
  }

  /** Calls `run` as a process does. */
  within<T>(process: SimulatedProcess, run: () => T): T {
    return this.#contexts.run(process, run);
  }

  /** What is called while its process dies ends there. */
  #runIn(process: SimulatedProcess, run: () => void): void {
    try {
      this.#contexts.run(process, run);
    } catch (error) {
      if (process.alive || !(error instanceof ProcessDied)) throw error;
    }
  }

  /**
   * Lets time pass until `untilMs`, or until `isOver` says so.
   * @returns Whether `isOver` said so.
   */
  async pass(untilMs: number, isOver: () => boolean = () => false): Promise<boolean> {
    await settle();
    while (!isOver()) {
      const next = this.#queue.at(-1);
      if (next === undefined || next.atMs > untilMs) {
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return isOver();
      }
      this.#queue.pop();
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      if (next.process !== undefined && next.process.pausedUntilMs > this.#nowMs) {
        next.atMs = next.process.pausedUntilMs;
        this.#insert(next);
        continue;
      }
      if (next.process === undefined) next.run();
      else if (next.process.alive) this.#runIn(next.process, next.run);
      else continue;
      await settle();
    }
    return true;
  }
}

/** Lets every promise go on that can. */
function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

let running: World | undefined;

/** The world of this program. */
export function world(): World {
  if (running === undefined) throw new Error("No world is running");
  return running;
}

/** Begins a world. */
export function beginWorld(next: World): void {
  running = next;
}

/** Whether a world is running. */
export function hasWorld(): boolean {
  return running !== undefined;
}
