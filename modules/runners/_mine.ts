/**
 * The mine for runners.
 * @module
 */

import { CommandError, StoreError } from "#lib/errors.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import type { RunnerContext } from "#lib/client/runner_context.ts";

/** The master's mine. */
export function mineOf({ opts, log }: RunnerContext): Mine {
  return new Mine(opts.cachedir, {
    maxBytes: opts.mine_max_bytes,
    log: (message) => log("warning", message),
    notes: changeNotes(opts),
  });
}

/** @throws {CommandError} In place of a {@linkcode StoreError}. */
export function withStore<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof StoreError ? new CommandError(error.message) : error;
  }
}
