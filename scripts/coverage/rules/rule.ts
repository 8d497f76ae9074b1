/**
 * The type of a rule for lines of the product that run in no test, and reasons that several rules share.
 * @module
 */

/** Lines that no test can reach, or whose run the tool cannot see. */
export interface CoverageRule {
  /**
   * The file, or a folder with its `/`, from the root of the tree.
   * @default every file
   */
  readonly path?: string;
  /**
   * Matches each of these lines, or the first line of their block; in a rule for every file a line that is a statement
   * names only itself.
   */
  readonly line: RegExp;
  readonly why: string;
}

/**
 * The type allows a value that never occurs: a group of a match that is always there, the first entry of a list that is
 * never empty.
 */
export const ALWAYS_THERE = "the types cannot say that it is always there";

/** An error that `catch` does not expect. */
export const UNEXPECTED =
  "an error that is not the expected one goes on to the caller; the system gives no other on demand";

/** The other system is macOS or Windows. */
export const OTHER_SYSTEM = "another system than Linux";

/** A memory allocation that fails. */
export const NO_MEMORY = "a host without memory";

/** A thread or process that ends before it writes its coverage data. */
export const KILLED = "it runs in a process that ends by SIGKILL: Deno writes no figures of such";

/** Another process changes a file between two system calls. */
export const RACE = "what was there vanishes between two system calls";
