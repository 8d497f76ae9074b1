/**
 * The texts that `file.accumulated` gathers in a run, for `file.managed` and `file.blockreplace`.
 * Source: Salt 3008.3 `salt/states/file.py` _load_accumulators, _persist_accummulators.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The accumulated texts of this run. */
export interface Accumulators {
  /** By file and accumulator: the texts. */
  readonly texts: Map<string, ValueMap>;
  /** By file and accumulator: the names and ids of the states that the texts are for. */
  readonly dependents: Map<string, Map<string, Value[]>>;
}

/** The accumulated texts so far. Salt keeps them in a file of the run; here they are in memory during the run. */
export function accumulators({ shared }: StateContext): Accumulators {
  const accumulators = shared.get(KEY);
  if (isAccumulators(accumulators)) return accumulators;
  const empty: Accumulators = { texts: new Map(), dependents: new Map() };
  shared.set(KEY, empty);
  return empty;
}

const KEY = "file.accumulators";

function isAccumulators(value: unknown): value is Accumulators {
  return typeof value === "object" && value !== null && "texts" in value && "dependents" in value;
}
