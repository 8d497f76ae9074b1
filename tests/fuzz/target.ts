/**
 * What a target of the fuzzer is: something that takes inputs, and the errors that it may refuse them with.
 * @module
 */

import type { Random } from "./mutate.ts";

/** A class of errors. */
export type ErrorClass = new (...args: never[]) => Error;

/** One input on its way in. `note` is told of it before it is fed, so that one that never comes back can be shown. */
export type Note = (input: Uint8Array | string) => void;

/** A target that is open. */
export interface Session {
  /**
   * Makes an input and feeds it.
   * @returns What became of it, in a word or two; throwing a declared error is the same as being refused by it.
   */
  feed(random: Random, note: Note): string | Promise<string>;
  /**
   * Makes an honest input of about so many bytes, and gives what feeds it as {@linkcode feed} feeds its own: what an input may cost
   * goes by what such a one costs. Without it, the cost of this target's inputs is judged by the second alone.
   */
  ordinary?(bytes: number): () => unknown;
  /** Fails unless an honest request is served as it should be. */
  honest(): void | Promise<void>;
  /** Ends it, and fails if the inputs did any harm that shows only now. */
  close(): void | Promise<void>;
}

/** Something to feed. */
export interface FuzzTarget {
  /** What `--only` calls it. */
  readonly name: string;
  /** How many of a run's inputs are for it, as a part of the sum of all shares. */
  readonly share: number;
  /** The errors that it may throw. */
  readonly refusals: readonly ErrorClass[];
  /** Whether the short form leaves it out: it starts processes, threads or sockets. */
  readonly needsSockets?: true;
  /** After how many inputs {@linkcode Session.honest} is asked. Default: 500. */
  readonly honestEvery?: number;
  open(): Session | Promise<Session>;
}

/** A property that does not hold: a fault of the code, not of the input. */
export class PropertyError extends Error {
  /** The name of the class. */
  override name = "PropertyError";
}

/** Fails with `message` unless `condition`. */
export function hold(condition: boolean, message: string): asserts condition {
  if (!condition) throw new PropertyError(message);
}
