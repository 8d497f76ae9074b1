/**
 * What the checks before a service's start throw.
 * @module
 */

import { systemError } from "#lib/os/deno_texts.ts";
import { messageOf, PreflightError } from "#lib/errors.ts";

/**
 * Does `action`.
 * @param what What is wrong if it throws: `pki_dir: nothing can be written in /etc/salt/pki`.
 * @throws {PreflightError} `what` with the system's reason, for any other error.
 */
export function orProblem<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof PreflightError) throw error;
    throw new PreflightError(`${what}: ${reason(error)}`, { cause: error });
  }
}

/** The system's reason without Deno's additions. */
export function reason(error: unknown): string {
  if (error instanceof Deno.errors.PermissionDenied) return "no right to do so";
  if (error instanceof Deno.errors.NotFound) return "no such directory";
  return (error instanceof Error ? systemError(error)?.reason : undefined) ?? messageOf(error);
}
