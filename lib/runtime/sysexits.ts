/**
 * Exit codes of programs, and return codes of functions, that say what kind of failure it is.
 * Source: sysexits.h, whose numbers Salt's `salt.defaults.exitcodes` has too.
 * @module
 */

/** A command line that cannot be understood. */
export const EX_USAGE = 64;
/** What is needed does not run: no master. */
export const EX_UNAVAILABLE = 69;
/** A fault in the program itself. */
export const EX_SOFTWARE = 70;
/** What may be tried again later. */
export const EX_TEMPFAIL = 75;
/** A refusal, or a file that may not be read or written. */
export const EX_NOPERM = 77;
