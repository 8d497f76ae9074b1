/**
 * Which returners a master gives its events, jobs and returns to, by option.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { JOB_STORES } from "#lib/stores/store_options.ts";
import type { EventOption } from "./event_position.ts";
import { configuredReturners, type ReturnerNames } from "./names.ts";

/** The options that name returners of a master. */
export const EVENT_OPTIONS: readonly EventOption[] = [
  "event_return",
  "master_return",
  "master_job_cache",
  "ext_job_cache",
];

/** The value of `master_job_cache` that means the master's own files, which are no returner here. */
export const LOCAL_CACHE = "local_cache";

/** Whether a name means the master's own store. */
function isOwnStore(name: string): boolean {
  return JOB_STORES.some((kind) => kind === name);
}

/** The returners that an option names. */
export function masterReturners(option: EventOption, opts: MasterOpts): ReturnerNames {
  const configured = configuredReturners(opts, opts[option]);
  return { ...configured, names: configured.names.filter((name) => !isOwnStore(name) || option === "event_return") };
}

/**
 * The returner that the runner `jobs` reads; `undefined`: the master's own files. As in Salt the first that is set of
 * `ext_job_cache`, the argument `ext_source` and `master_job_cache`; of several it is the first.
 */
export function jobReader(opts: MasterOpts, source: string | null): string | undefined {
  for (const given of [opts.ext_job_cache, source ?? "", opts.master_job_cache]) {
    if (given === "") continue;
    const [name] = configuredReturners(opts, given).names;
    if (name !== undefined) return isOwnStore(name) ? undefined : name;
  }
  return undefined;
}
