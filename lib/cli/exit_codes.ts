/**
 * The exit codes of the commands, each with what it tells a script. Knows no errors: the commands say which is whose.
 *
 * Source: salt-protocol.md section 9; sysexits.h for 64 and above.
 * @module
 */

/** A minion failed or did not return. */
export const EX_MINIONS = 1;
/** Nobody was meant, or nobody returned. */
export const EX_NOBODY = 2;
/** Half a command line, or a file to send that is not there: Salt's own number. */
export const EX_INCOMPLETE = 42;
/** A command line that cannot be understood (sysexits EX_USAGE). */
export const EX_USAGE = 64;
/** No master is running (sysexits EX_UNAVAILABLE). */
export const EX_UNAVAILABLE = 69;
/** A fault in the program itself (sysexits EX_SOFTWARE). */
export const EX_SOFTWARE = 70;
/** A refusal, or a file that may not be read or written (sysexits EX_NOPERM). */
export const EX_NOPERM = 77;
/** Ctrl-C, as shells count it. */
export const EX_INTERRUPTED = 130;
