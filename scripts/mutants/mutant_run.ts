/**
 * Runs tests against mutants: each mutant is put into a copy of the tree, and the tests of its file run, nearest first,
 * until one fails.
 *
 * Every test runs once without a mutant first: it must pass, and its time sets its later time limit.
 * @module
 */

import { type Mutant, thatCompile } from "./find.ts";
import { blackBoxTests, TestFinder } from "./tests.ts";
import { Copy, type Run } from "./trial.ts";

/**
 * Time limit of a test with a mutant: this multiple of its time without a mutant, plus a constant in milliseconds,
 * because the machine may be busy.
 */
const LONGER = 5;
const MAX_WAIT_MS = 20_000;
/** Time limit of a test without a mutant, in milliseconds. */
const FIRST_MS = 300_000;

/** The verdict on a mutant. */
export interface Verdict {
  readonly mutant: Mutant;
  /**
   * `timedOut`: a test took far longer than without the mutant, which counts as caught. `discarded`: it does not
   * compile.
   */
  readonly fate: "caught" | "timedOut" | "survived" | "discarded";
  /** The tests that ran, in order. If the mutant was caught, the last test caught it. */
  readonly tests: readonly string[];
}

/** The mutants to try, and callbacks for the results. */
export interface Trials {
  readonly root: string;
  readonly mutants: readonly Mutant[];
  readonly jobs: number;
  /** How many of the tests of its file judge a mutant, the nearest first. Default: all. */
  readonly nearest?: number;
  /** Milliseconds that a test may take in addition to `LONGER` times its usual time. */
  readonly graceMs?: number;
  readonly signal?: AbortSignal;
  /** Called with the current step. */
  readonly onStep?: (what: string, done: number, of: number) => void;
  /** Called with the verdict on each mutant. */
  readonly onVerdict?: (verdict: Verdict) => void;
  /** Called with each test that fails without a mutant, and is therefore left out. */
  readonly onUseless?: (test: string, output: string) => void;
}

/**
 * Tries all mutants.
 * @returns The verdicts, in the order in which the trials ended.
 */
export async function tryMutants(trials: Trials): Promise<Verdict[]> {
  const { root, mutants, jobs, nearest, graceMs = MAX_WAIT_MS, signal } = trials;
  const finder = new TestFinder(root);
  await using copies = new AsyncDisposableStack();
  const lanes: Copy[] = [];
  for (let i = 0; i < Math.min(jobs, Math.max(1, mutants.length)); i++) {
    lanes.push(copies.use(await Copy.of(root, signal)));
  }

  trials.onStep?.("types", 0, mutants.length);
  const compiled = await thatCompile(lanes[0].root, mutants);
  const verdicts: Verdict[] = [];
  const report = (verdict: Verdict) => {
    verdicts.push(verdict);
    trials.onVerdict?.(verdict);
  };
  for (const mutant of mutants) if (!compiled.has(mutant)) report({ mutant, fate: "discarded", tests: [] });

  const usual = new UsualTimes(trials);
  const inLane = async (lane: Copy, mutant: Mutant): Promise<Verdict> => {
    const tests: string[] = [];
    const outside = blackBoxTests(mutant.file);
    for (const test of finder.testsOf(mutant.file).slice(0, nearest)) {
      const ms = await usual.of(test, lane);
      if (ms === undefined) continue;
      tests.push(test);
      const once = () => lane.with(mutant, () => lane.run(test, LONGER * ms + graceMs));
      let run = await once();
      // A black-box test may fail for another reason, since its processes communicate.
      if (!run.passed && outside.includes(test)) run = await once();
      if (!run.passed) return { mutant, fate: run.late ? "timedOut" : "caught", tests };
    }
    return { mutant, fate: "survived", tests };
  };
  let done = 0;
  await inTurn(lanes, [...compiled], async (lane, mutant) => {
    report(await inLane(lane, mutant));
    trials.onStep?.("mutants", ++done, compiled.size);
  });
  return verdicts;
}

/** How long each test takes without a mutant. A test is measured when its time is first needed. */
class UsualTimes {
  readonly #trials: Trials;
  readonly #times = new Map<string, Promise<number | undefined>>();

  constructor(trials: Trials) {
    this.#trials = trials;
  }

  /**
   * The time of `test` in milliseconds; `undefined` if it fails twice.
   * @param copy A copy without a mutant.
   */
  of(test: string, copy: Copy): Promise<number | undefined> {
    const known = this.#times.get(test) ?? this.#measure(test, copy);
    this.#times.set(test, known);
    return known;
  }

  async #measure(test: string, copy: Copy): Promise<number | undefined> {
    let run: Run = await copy.run(test, FIRST_MS);
    if (!run.passed) run = await copy.run(test, FIRST_MS);
    if (run.passed) return run.ms;
    this.#trials.onUseless?.(test, run.output);
    return undefined;
  }
}

/** Runs `work` for each of `items`, one at a time in each lane. */
async function inTurn<T>(
  lanes: readonly Copy[],
  items: readonly T[],
  work: (lane: Copy, item: T) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  const outcomes = await Promise.allSettled(lanes.map(async (lane) => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      try {
        await work(lane, item);
      } catch (error) {
        waiting.length = 0; // the other lanes end too
        throw error;
      }
    }
  }));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
