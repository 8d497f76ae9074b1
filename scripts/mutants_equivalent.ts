/**
 * Mutants that change nothing anybody can see, each with the reason. They are not made.
 * @module
 */

/** One of them, by its text, so that lines above it may come and go. */
export interface Equivalent {
  /** From the root of the tree. */
  readonly file: string;
  /** The line where it begins, without the spaces around it. */
  readonly code: string;
  /** As `deno task mutants` prints it. */
  readonly change: string;
  /** Why nobody can tell. */
  readonly why: string;
}

/** All that were found so far. A test sees to it that each still is a mutant. */
export const EQUIVALENT: readonly Equivalent[] = [];
