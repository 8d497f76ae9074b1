/**
 * Measures the time of a job to one minion with each side's own client: from the publish to the return event. The
 * counterpart of job_latency.py.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { callingUser } from "#lib/commands/cli/calling_user.ts";
import { loadClientConfig } from "#lib/config/load.ts";
import { LocalClient } from "#lib/client/local.ts";
import type { Fleet } from "#tests/bench/fleets/fleet.ts";
import { pingAll } from "./ping_all.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchScript } from "#tests/bench/harness/sides.ts";
import { median } from "#tests/bench/harness/statistics.ts";

/** Number of jobs in one measurement, whose result is the median. */
export const LATENCY_JOBS = 25;

/**
 * The median in milliseconds of consecutive `test.ping` jobs.
 * @throws {Error} If one does not return.
 */
export async function jobLatency(fleet: Fleet, minion: string): Promise<number> {
  if (fleet.side.python !== undefined) {
    const { out } = await run([
      fleet.side.python,
      benchScript("programs/job_latency.py"),
      `${fleet.configDir}/master`,
      minion,
      String(LATENCY_JOBS),
    ]);
    return median(JSON.parse(out));
  }
  const { opts } = loadClientConfig({ configDir: fleet.configDir });
  using client = await LocalClient.connect(opts, { user: callingUser(), log: SILENT_LOGGER });
  const timeouts = { timeoutMs: opts.timeout * 1000, gatherMs: opts.gather_job_timeout * 1000 };
  const times: number[] = [];
  for (let i = 0; i < LATENCY_JOBS; i++) {
    const started = performance.now();
    await pingAll(client, minion, timeouts);
    times.push(performance.now() - started);
  }
  return median(times);
}
