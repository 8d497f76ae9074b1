/**
 * Feeds inputs to one target. Each input has a number and its own seed, so that it can be fed again alone.
 *
 * A fault is an error that the target does not declare, a violated property, an input that takes a second or far more
 * time than a valid one of its size, a valid request that is not served, or growing memory. Does not know the targets.
 * @module
 */

import { describeError } from "#lib/errors.ts";
import { cpuUsage } from "node:process";
import { Random } from "./mutate.ts";
import type { FuzzTarget, Session } from "./target.ts";

/** Inputs slower than this are reported, in milliseconds, if they are slow twice: any input may be slow once. */
const SLOW_MS = 100;
/** An input slower than this is a fault, in milliseconds. */
const HANG_MS = 1_000;
/** An input slower than this is a fault even once, in milliseconds: the second time, a cache may make it faster. */
const HANG_ONCE_MS = 5_000;
/** An input may need this many times the processor time of a valid one of its size. */
const MAX_TIMES = 20;
/**
 * A cost below this is never a fault, in milliseconds: for a few hundred bytes, clock and garbage collector affect it
 * more.
 */
const CHEAP_MS = 20;
/** Number of times that a seemingly costly input is fed again; the smallest cost counts. */
const COST_TRIES = 4;
/** Number of times that a valid input is fed to measure its cost. */
const ORDINARY_TRIES = 3;
/**
 * The sizes of valid inputs, in bytes: powers of two, from the first to the second. The cost of larger ones is
 * extrapolated in proportion.
 */
const MIN_SIZE = 1_024, MAX_SIZE = 1_048_576;
/** Maximum number of faults of a target; then the run ends. */
const MAX_FAULTS = 10;
/**
 * Growth from the lowest value of the second quarter to that of the last quarter that is a fault, in MiB of the heap
 * and of the process.
 */
const MAX_GROWTH = { heap: 32, process: 128 } as const;

/** The number of samples of the memory. */
const MEMORY_SAMPLES = 24;

/** Options of a run. */
export interface Feed {
  readonly seed: string;
  /** Number of inputs. */
  readonly inputs: number;
  /** The number of the only input to feed, in place of all. */
  readonly at?: number;
  /** Called with each input before it is fed. */
  readonly note?: (index: number, input: Uint8Array | string) => void;
}

export interface Fault {
  /** The message, with a stack if there is one. */
  readonly problem: string;
  /** The number of the input. */
  readonly index: number;
  /** The input, as {@linkcode show} shows it. */
  readonly input: string;
}

/** The results of one target. */
export interface Tally {
  readonly name: string;
  /** Number of inputs. */
  readonly inputs: number;
  /** The number of inputs by outcome: a text of the target, or the name of an error. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Time of the slowest input, in milliseconds. */
  readonly slowestMs: number;
  /** The inputs that were slow twice. */
  readonly slow: readonly { readonly index: number; readonly ms: number; readonly input: string }[];
  readonly faults: readonly Fault[];
  /** Time of the whole run, in milliseconds. */
  readonly tookMs: number;
}

/** Feeds `target`. Never throws: errors are in the tally. */
export async function feedTarget(target: FuzzTarget, feed: Feed): Promise<Tally> {
  const started = performance.now();
  const run = new Run(target, feed);
  let session: Session | undefined;
  try {
    session = await target.open();
    await run.all(session);
  } catch (error) {
    run.fault(`while it ran: ${stackOf(error)}`);
  }
  try {
    await session?.close();
  } catch (error) {
    run.fault(`at the end: ${stackOf(error)}`);
  }
  return run.tally(performance.now() - started);
}

class Run {
  readonly #target: FuzzTarget;
  readonly #feed: Feed;
  readonly #outcomes: Record<string, number> = {};
  readonly #slow: { index: number; ms: number; input: string }[] = [];
  readonly #faults: Fault[] = [];
  readonly #problems = new Set<string>();
  /** The lowest value in each quarter of the run, in MiB. */
  readonly #lowest = {
    heap: [Infinity, Infinity, Infinity, Infinity],
    process: [Infinity, Infinity, Infinity, Infinity],
  };
  /** The cost of a valid input, by its size. */
  readonly #ordinaryMs = new Map<number, number>();
  #slowestMs = 0;
  #index = 0;
  #count = 0;
  #input: Uint8Array | string = "";

  constructor(target: FuzzTarget, feed: Feed) {
    this.#target = target;
    this.#feed = feed;
  }

  async all(session: Session): Promise<void> {
    const { inputs, at } = this.#feed;
    const checkEvery = this.#target.checkEvery ?? 500;
    const first = at ?? 0;
    const end = at === undefined ? inputs : at + 1;
    for (this.#index = first; this.#index < end && this.#faults.length < MAX_FAULTS; this.#index++) {
      const ms = await this.#one(session);
      if (ms > this.#slowestMs) this.#slowestMs = ms;
      if (ms > SLOW_MS) await this.#again(session, ms);
      if (ms > CHEAP_MS && session.ordinary !== undefined) await this.#judgeCost(session, ms);
      this.#count++;
      if (this.#count % checkEvery === 0 || this.#index === end - 1) await this.#checkService(session);
      if (this.#count % Math.ceil(inputs / MEMORY_SAMPLES) === 0) this.#weigh(end - first);
    }
    for (const what of ["heap", "process"] as const) {
      const [, before, , after] = this.#lowest[what];
      if (after - before > MAX_GROWTH[what]) this.fault(`the ${what} grew by ${Math.round(after - before)} MiB`);
    }
  }

  /**
   * Feeds the current input.
   * @returns The milliseconds that it took, limited by its processor time: on a busy machine an input may wait without
   * using the processor.
   */
  async #one(session: Session): Promise<number> {
    const random = new Random(`${this.#feed.seed}/${this.#target.name}/${this.#index}`);
    let started = performance.now();
    let before = cpuUsage();
    const note = (input: Uint8Array | string) => {
      this.#input = input;
      this.#feed.note?.(this.#index, input);
      started = performance.now(); // the time to make it does not count
      before = cpuUsage();
    };
    let outcome: string;
    try {
      const fed = session.feed(random, note);
      outcome = typeof fed === "string" ? fed : await fed;
    } catch (error) {
      const declared = error instanceof Error && this.#target.refusals.some((refusal) => error instanceof refusal);
      if (!declared) this.fault(stackOf(error));
      outcome = error instanceof Error ? error.name : String(error);
    }
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
    const wallMs = performance.now() - started;
    const { user, system } = cpuUsage(before);
    return Math.min(wallMs, (user + system) / 1000);
  }

  async #again(session: Session, firstMs: number): Promise<void> {
    const input = show(this.#input);
    const ms = Math.min(firstMs, await this.#one(session));
    if (firstMs > HANG_ONCE_MS) this.fault(`took ${Math.round(firstMs)} ms, then ${Math.round(ms)}`);
    if (ms <= SLOW_MS) return;
    this.#slow.push({ index: this.#index, ms, input });
    if (ms > HANG_MS) this.fault(`took ${Math.round(ms)} ms, twice`);
  }

  /** Whether the current input costs too much for its size. */
  async #judgeCost(session: Session, firstMs: number): Promise<void> {
    const bytes = this.#input.length;
    const input = show(this.#input);
    const ordinaryMs = await this.#ordinary(session, bytes);
    const max = Math.max(CHEAP_MS, MAX_TIMES * ordinaryMs);
    let ms = firstMs;
    for (let tries = 0; ms > max && tries < COST_TRIES; tries++) ms = Math.min(ms, await this.#one(session));
    if (ms <= max) return;
    const [costs, valid] = [ms, ordinaryMs].map((each) => each.toFixed(1));
    this.fault(`costs ${costs} ms, where a valid input of its ${bytes} bytes costs ${valid}`, input);
  }

  /**
   * The smallest cost of a valid input of the next larger size, in milliseconds. For valid inputs the work is
   * proportional to the bytes.
   */
  async #ordinary(session: Session, bytes: number): Promise<number> {
    if (bytes > MAX_SIZE) return await this.#ordinary(session, MAX_SIZE) * bytes / MAX_SIZE;
    let size = MIN_SIZE;
    while (size < bytes) size *= 2;
    const known = this.#ordinaryMs.get(size);
    if (known !== undefined) return known;
    let min = Infinity;
    for (let tries = 0; tries < ORDINARY_TRIES; tries++) {
      const feed = session.ordinary?.(size);
      const before = cpuUsage();
      await feed?.();
      const { user, system } = cpuUsage(before);
      min = Math.min(min, (user + system) / 1000);
    }
    this.#ordinaryMs.set(size, min);
    return min;
  }

  async #checkService(session: Session): Promise<void> {
    try {
      await session.checkService();
    } catch (error) {
      this.fault(`a valid request was not served: ${stackOf(error)}`);
    }
  }

  #weigh(inputs: number): void {
    // Without a garbage collection just before, the heap size does not show the live memory. An ordinary collection
    // keeps empty pages for later: an output of some megabytes left 290 of them.
    const { gc } = globalThis as { gc?: (options: Readonly<Record<string, string>>) => void };
    if (gc === undefined) return;
    gc({ type: "major", execution: "sync", flavor: "last-resort" });
    const quarter = Math.min(3, Math.floor(4 * this.#count / inputs));
    const { heapUsed, external, rss } = Deno.memoryUsage();
    for (const [what, bytes] of [["heap", heapUsed + external], ["process", rss]] as const) {
      this.#lowest[what][quarter] = Math.min(this.#lowest[what][quarter], bytes / 1024 / 1024);
    }
  }

  /** Records a fault, once for each kind. */
  fault(problem: string, input: string = show(this.#input)): void {
    const kind = problem.split("\n").slice(0, 2).join().replaceAll(/"[^"]*"|\d+/g, "");
    if (this.#problems.has(kind)) return;
    this.#problems.add(kind);
    this.#faults.push({ problem, index: this.#index, input });
  }

  tally(tookMs: number): Tally {
    return {
      name: this.#target.name,
      inputs: this.#count,
      outcomes: this.#outcomes,
      slowestMs: this.#slowestMs,
      slow: this.#slow,
      faults: this.#faults,
      tookMs,
    };
  }
}

/** An input as a line that can be copied into a test: hex, or a JSON string; a long one is truncated. */
export function show(input: Uint8Array | string): string {
  const text = typeof input === "string" ? JSON.stringify(input) : `hex:${input.subarray(0, 4_000).toHex()}`;
  return text.length <= 4_000 ? text : `${text.slice(0, 4_000)}… (${input.length} in all)`;
}

function stackOf(error: unknown): string {
  return describeError(error);
}
