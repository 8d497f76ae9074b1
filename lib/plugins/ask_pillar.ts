/**
 * This minion's pillar, made again for one call.
 * @module
 */

import type { JobContext, PillarAsked } from "./job_context.ts";
import type { ValueMap } from "../values/value.ts";

/** The pillar of the requested environment, else of that in the options. The pillar in memory is not changed. */
export function askPillar(asked: PillarAsked, { opts, outside }: JobContext): Promise<ValueMap> {
  const fromSaltenv = opts.pillarenv_from_saltenv ? asked.saltenv ?? opts.saltenv : null;
  return outside.pillar({ ...asked, pillarenv: asked.pillarenv ?? fromSaltenv ?? opts.pillarenv });
}
