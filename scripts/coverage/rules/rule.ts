/**
 * A rule for lines of the product that run in no test, and the reasons that rules of more than one subject give.
 * @module
 */

/** Lines that no test can reach, or whose run the tool cannot see. */
export interface CoverageRule {
  /** The file, or a folder with its `/`, from the root of the tree. @default every file */
  readonly path?: string;
  /** What each of these lines, or the first line of their block, contains. */
  readonly line: RegExp;
  readonly why: string;
}

/** The types allow what never is: a match's groups, the first entry of a list that has one. */
export const ALWAYS_THERE = "the types cannot say that it is always there";

/** What `catch` does not expect. */
export const UNEXPECTED =
  "an error that is not the expected one goes on to the caller; the system gives no other on demand";

/** The other system is macOS or Windows. */
export const OTHER_SYSTEM = "another system than Linux";

/** An allocation that fails. */
export const NO_MEMORY = "a host without memory";

/** A thread or process that ends without its figures. */
export const KILLED = "it runs in a process that ends by SIGKILL: Deno writes no figures of such";

/** Another process changes something between two system calls. */
export const RACE = "what was there vanishes between two system calls";
