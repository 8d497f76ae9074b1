/**
 * How the operator's commands report a master that refuses a user, or does not answer.
 * @module
 */

import { EX_NOPERM, EX_TEMPFAIL, EX_UNAVAILABLE } from "#lib/runtime/sysexits.ts";
import type { Failure } from "#lib/commands/cli/run_command.ts";
import { NoMasterError, RefusedError, TemporaryError, ThrottledError } from "#lib/errors.ts";

/** The failure for an error; `undefined` for any other error. */
export function masterFailure(error: Error): Failure | undefined {
  if (error instanceof NoMasterError) return { exitCode: EX_UNAVAILABLE };
  if (error instanceof ThrottledError) return { exitCode: EX_TEMPFAIL };
  if (error instanceof RefusedError) return { exitCode: EX_NOPERM };
  if (error instanceof TemporaryError) return { exitCode: EX_TEMPFAIL };
  return undefined;
}
