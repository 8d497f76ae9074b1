/**
 * The database of this master's cluster, for runners.
 * @module
 */

import type { RunnerContext } from "#lib/client/runner_context.ts";
import { type OpenCluster, openClusterDatabase } from "#lib/cluster/open_cluster.ts";
import { CommandError, PreflightError, StoreError, TemporaryError } from "#lib/errors.ts";
import { EX_TEMPFAIL } from "#lib/runtime/sysexits.ts";
import { DatabaseAwayError } from "#lib/stores/postgres_connection.ts";

/**
 * Runs `run` with the database.
 * @throws {CommandError} With what the options or the database say.
 * @throws {TemporaryError} If the database is away.
 */
export async function withCluster<T>(
  { opts, log, setRetcode }: RunnerContext,
  run: (cluster: OpenCluster) => Promise<T>,
): Promise<T> {
  try {
    await using cluster = openClusterDatabase(opts, (text) => log("warning", text));
    return await run(cluster);
  } catch (error) {
    if (error instanceof DatabaseAwayError) {
      setRetcode(EX_TEMPFAIL);
      throw new TemporaryError(`The database of the cluster is away: ${error.message}`, { cause: error });
    }
    if (error instanceof StoreError || error instanceof PreflightError) {
      throw new CommandError(error.message, { cause: error });
    }
    throw error;
  }
}
