/**
 * What the rules of `flow` have let pass and held back, in memory that all threads of a master share, and the file that
 * `salt-run flow.status` shows.
 * @module
 */

import { readState, writeState } from "#lib/runtime/state_file.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";

/** What is counted of each rule. */
const COUNTED = ["passed", "throttled", "late", "dropped"] as const;
/** The name of a count. */
export type Counted = typeof COUNTED[number];
/** What is now, of rules with `running`: minions that have a place, and minions that wait for one. */
const PRESENT = ["running", "waiting"] as const;
const WORDS = [...COUNTED, ...PRESENT];

/** The counts of all rules. */
export class FlowCounts {
  /** Other threads make their own view of it. */
  readonly memory: SharedArrayBuffer;
  readonly #counts: BigInt64Array;

  /**
   * @param rules Number of rules.
   * @param memory The memory of another thread's view.
   */
  constructor(rules: number, memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(rules * WORDS.length * BigInt64Array.BYTES_PER_ELEMENT);
    this.#counts = new BigInt64Array(this.memory);
  }

  /** @param rule From 1. */
  add(rule: number, name: Counted, count = 1): void {
    Atomics.add(this.#counts, placeOf(rule, name), BigInt(count));
  }

  /** @param rule From 1. */
  set(rule: number, name: typeof PRESENT[number], count: number): void {
    Atomics.store(this.#counts, placeOf(rule, name), BigInt(count));
  }

  /** All counts in one text, which is another one after each change. */
  get version(): string {
    return this.#counts.join();
  }

  /** The counts of each rule. */
  rows(option: readonly Value[]): Value {
    return option.map((rule, i) =>
      map({
        rule,
        ...Object.fromEntries(
          (isMap(rule) && rule.has("running") ? WORDS : COUNTED)
            .map((name) => [name, Number(Atomics.load(this.#counts, placeOf(i + 1, name)))]),
        ),
      })
    );
  }
}

function placeOf(rule: number, name: typeof WORDS[number]): number {
  return (rule - 1) * WORDS.length + WORDS.indexOf(name);
}

/** The path of the file. */
function flowStatusPath(sockDir: string): string {
  return `${sockDir}/flow.json`;
}

/** Writes the file. */
export function writeFlowStatus(sockDir: string, rows: Value): void {
  writeState(flowStatusPath(sockDir), rows);
}

/** The counts of each rule; empty if there is no file. */
export function readFlowStatus(sockDir: string): Value {
  return readState(flowStatusPath(sockDir));
}
