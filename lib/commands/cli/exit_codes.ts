/**
 * The exit codes of the commands, each with its meaning for a script. The commands decide which error has which code.
 *
 * Source: docs/differences.md "Exit codes"; for 64 and above `lib/runtime/sysexits.ts`.
 * @module
 */

import { InterruptedError } from "#lib/errors.ts";

/** A minion failed or did not return. */
export const EX_MINIONS = 1;
/** No minion matched, or none returned. */
export const EX_NO_MINIONS = 2;
/** A host of `salt-ssh` failed, or gave no result: Salt's own number. */
export const EX_AGGREGATE = 20;
/** An incomplete command line, or a file to send that does not exist: Salt's own number. */
export const EX_INCOMPLETE = 42;
/** Ctrl-C, as in shells. */
export const EX_INTERRUPTED = 130;

/** The exit code of a command that `signal` has aborted, as in shells: 130 Ctrl-C, 143 SIGTERM. */
export function interruptedCode({ reason }: AbortSignal): number {
  return reason instanceof InterruptedError ? 128 + reason.number : EX_INTERRUPTED;
}
