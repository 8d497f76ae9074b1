/**
 * Ends computations of this thread from another thread, by a number in shared memory, or by a signal. The runtime ends
 * a thread only when it waits for something, and a thread that computes reads no messages and runs no listener, so
 * whatever may compute for long counts its steps here: what goes through values, templates, regular expressions and
 * differences of texts.
 * @module
 */

import { JobEndedError } from "#lib/errors.ts";

/** Number of steps between two looks at the word, less one: a few microseconds of work. A power of two less one. */
const BETWEEN_LOOKS = 1023;

/** Gives the number of the signal that ends this isolate's computations, 0: none; `undefined`: nothing ends them. */
let look: (() => number) | undefined;
let steps = 0;

/** Makes the computations of this thread end when `memory` ({@linkcode StopWord.memory}) says so. */
export function heedStopWord(memory: SharedArrayBuffer): void {
  const word = new Int32Array(memory);
  look = () => Atomics.load(word, 0);
}

/**
 * Makes the computations of this thread end when `signal` gives the number of one: of a process that has caught it.
 * `undefined`: nothing ends them any more.
 */
export function heedSignals(signal: (() => number) | undefined): void {
  look = signal;
}

/**
 * Counts a step of a computation.
 * @throws {JobEndedError} At some of the steps after another thread has told this one to stop: at each look again, so a
 * caller that continues after an error ends too.
 */
export function countStep(): void {
  if ((++steps & BETWEEN_LOOKS) === 0 && look !== undefined) endIf(look());
}

/**
 * Looks at the word at once: for a step that itself takes milliseconds.
 * @throws {JobEndedError} As {@linkcode countStep}.
 */
export function countLongStep(): void {
  if (look !== undefined) endIf(look());
}

function endIf(signal: number): void {
  if (signal !== 0) throw new JobEndedError(signal);
}

/** The word, as the thread that ends another one uses it. */
export class StopWord {
  /** For the thread that is to be ended. */
  readonly memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

  /**
   * Tells the thread to stop for good.
   * @param signal The number of the signal that the error names; not 0.
   */
  stop(signal: number): void {
    Atomics.store(new Int32Array(this.memory), 0, signal);
  }
}
