/**
 * The request for a minion's pillar, which tells the master the minion's grains as well.
 * Source: salt-protocol.md sections 5 and 14.
 * @module
 */

import type { MinionOpts } from "../config/options.ts";
import { map, type ValueMap } from "../values/value.ts";

/** The pillar request of a minion with these grains. */
export function pillarRequest({ id, saltenv, pillarenv }: MinionOpts, grains: ValueMap): ValueMap {
  return map({
    id,
    grains,
    saltenv,
    pillarenv,
    pillar_override: {},
    extra_minion_data: {},
    ver: "2",
    cmd: "_pillar",
  });
}
