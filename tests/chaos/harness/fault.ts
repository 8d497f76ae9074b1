/**
 * The definition of a fault: a name, a promise, and a run that returns figures, each with its limit.
 * @module
 */

import type { Random } from "#tests/fuzz/mutate.ts";

/** One figure of a run. */
export interface Figure {
  /** The counted or measured quantity, with its unit: `returns lost`, `slowest answer, ms`. */
  readonly name: string;
  readonly value: number;
  /** The promise does not hold above this. */
  readonly atMost?: number;
  /** The promise does not hold below this. */
  readonly atLeast?: number;
}

export interface FaultRun {
  /** The long form, of minutes, or the short one, of seconds. */
  readonly long: boolean;
  /** The source of every random choice. */
  readonly random: Random;
  /** Prints the progress. */
  say(text: string): void;
}

/** A fault. */
export interface Fault {
  /** The value of `--only`. */
  readonly name: string;
  readonly what: string;
  /** The promise that holds during the fault. */
  readonly promise: string;
  /** The reason why this machine cannot run it: missing rights, or a missing tool. */
  missing?(): string | undefined;
  /** Causes the fault in real processes, and measures the figures. */
  run(run: FaultRun): Promise<readonly Figure[]>;
}

/** Whether a figure keeps its bounds. */
export function holds({ value, atMost = Infinity, atLeast = -Infinity }: Figure): boolean {
  return value <= atMost && value >= atLeast;
}
