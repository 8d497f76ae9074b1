/**
 * The entry of a list of equivalent mutants.
 * @module
 */

/** A mutant without an observable effect, identified by its text: line numbers may change. */
export interface EquivalentMutant {
  /** The path from the root of the tree. */
  readonly file: string;
  /** The line where the mutant begins, trimmed. */
  readonly code: string;
  /** As `deno task mutants` prints it. */
  readonly change: string;
  /** Why no test can observe it. */
  readonly why: string;
}
