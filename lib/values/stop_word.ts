/**
 * Ends computations of this thread from another thread: a number in shared memory. The runtime ends a thread only when
 * it waits for something, and a thread that computes reads no messages, so whatever may compute for long counts its
 * steps here: what goes through values, templates, regular expressions and differences of texts.
 * @module
 */

import { JobEndedError } from "#lib/errors.ts";

/** Number of steps between two looks at the word, less one: a few microseconds of work. A power of two less one. */
const BETWEEN_LOOKS = 1023;

/** The word of this isolate; `undefined` if nobody ends it in this way. */
let word: Int32Array | undefined;
let steps = 0;

/** Makes the computations of this thread end when `memory` ({@linkcode StopWord.memory}) says so. */
export function heedStopWord(memory: SharedArrayBuffer): void {
  word = new Int32Array(memory);
}

/**
 * Counts a step of a computation.
 * @throws {JobEndedError} At some of the steps after another thread has told this one to stop: at each look again, so a
 * caller that continues after an error ends too.
 */
export function countStep(): void {
  if ((++steps & BETWEEN_LOOKS) === 0 && word !== undefined) lookAtStopWord(word);
}

/**
 * Looks at the word at once: for a step that itself takes milliseconds.
 * @throws {JobEndedError} As {@linkcode countStep}.
 */
export function countLongStep(): void {
  if (word !== undefined) lookAtStopWord(word);
}

function lookAtStopWord(shared: Int32Array): void {
  const signal = Atomics.load(shared, 0);
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
