/**
 * The definition of a target of the fuzzer: code that takes inputs, and the errors by which it may reject them.
 * @module
 */

import type { Random } from "./mutate.ts";

/** A class of errors. */
export type ErrorClass = new (...args: never[]) => Error;

/** Receives each input before it is fed, so that an input that hangs can be shown. */
export type Note = (input: Uint8Array | string) => void;

/** A target that is open. */
export interface Session {
  /**
   * Makes an input and feeds it.
   * @returns The outcome, as a short text; a declared error means that the input was rejected.
   */
  feed(random: Random, note: Note): string | Promise<string>;
  /**
   * Makes a valid input of about this many bytes.
   * @returns A function that feeds it like {@linkcode feed}: its cost is the reference for other inputs. Without this
   * method, only the limit of a second applies.
   */
  ordinary?(bytes: number): () => unknown;
  /** Fails unless a valid request is served correctly. */
  checkService(): void | Promise<void>;
  /** Ends the session, and fails if damage by the inputs is found only now. */
  close(): void | Promise<void>;
}

/** A target. */
export interface FuzzTarget {
  /** The name for `--only`. */
  readonly name: string;
  /** Its share of a run's inputs, relative to the sum of all shares. */
  readonly share: number;
  /** The errors that it may throw. */
  readonly refusals: readonly ErrorClass[];
  /** Whether the short form leaves it out: it starts processes, threads or sockets. */
  readonly needsSockets?: true;
  /**
   * The number of inputs between two calls of {@linkcode Session.checkService}.
   * @default 500
   */
  readonly checkEvery?: number;
  open(): Session | Promise<Session>;
}

/** A violated property: a fault of the code, not of the input. */
export class PropertyError extends Error {
  /** The name of the class. */
  override name = "PropertyError";
}

/** Fails with `message` unless `condition`. */
export function hold(condition: boolean, message: string): asserts condition {
  if (!condition) throw new PropertyError(message);
}
