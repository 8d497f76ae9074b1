/**
 * The jobs that a minion gives to itself: they fill its mine, and refresh its grains.
 * Source: Salt 3008.3 `salt/minion.py` setup_scheduler (add_job of `__mine_interval`, `__update_grains`).
 * @module
 */

import { masterOpts } from "#lib/config/option_sources.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { map, truthy, type ValueMap } from "#lib/values/value.ts";

/** The name of the job that fills the mine. */
export const MINE_JOB = "__mine_interval";

/** The jobs that a minion with these options gives to itself, as entries of a schedule. */
export function internalJobs(opts: MinionOpts): ValueMap {
  const jobs: ValueMap = new Map();
  if (opts.mine_enabled) {
    jobs.set(
      MINE_JOB,
      map({
        function: "mine.update",
        minutes: opts.mine_interval,
        jid_include: true,
        maxrunning: 2,
        run_on_start: true,
        return_job: opts.mine_return_job,
        enabled: true,
      }),
    );
  }
  if (opts.grains_refresh_every > 0) {
    jobs.set(
      "__update_grains",
      map({
        function: "event.fire",
        args: [new Map(), "grains_refresh"],
        seconds: Math.max(1, Math.round(opts.grains_refresh_every * 60)),
        run_on_start: false,
        return_job: false,
        enabled: true,
      }),
    );
  }
  return jobs;
}

/**
 * Whether anything would come of {@linkcode MINE_JOB}: without `mine_functions` it would start a worker for nothing, at
 * the start of each minion. With `mine_return_job` its return is wanted nevertheless.
 */
export function fillsMine(opts: MinionOpts, pillar: ValueMap): boolean {
  const sources = [opts.mine_functions, masterOpts(pillar).get("mine_functions"), pillar.get("mine_functions")];
  return opts.mine_return_job || sources.some((functions) => truthy(functions));
}
