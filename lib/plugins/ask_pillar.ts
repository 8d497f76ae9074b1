/**
 * Compiles this minion's pillar again for one call.
 * @module
 */

import type { JobContext, PillarQuery } from "./job_context.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The pillar of the requested environment, else of that in the options. The pillar in memory is not changed. */
export function askPillar(query: PillarQuery, { opts, outside }: JobContext): Promise<ValueMap> {
  const fromSaltenv = opts.pillarenv_from_saltenv ? query.saltenv ?? opts.saltenv : null;
  return outside.pillar({ ...query, pillarenv: query.pillarenv ?? fromSaltenv ?? opts.pillarenv });
}
