/**
 * External pillar `nodegroups`: which groups the minion is in.
 * Source: Salt 3008.3 `salt/pillar/nodegroups.py`.
 * @module
 */

import { type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { p } from "#lib/plugins/module.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Return a list of the master's node groups that contain the minion, under `pillar_name`. The groups are matched by its grains\n" +
    "and the pillar so far.",
  params: { pillar_name: p.str(null) },
  run: ({ pillar_name }, { nodegroups }) => new Map([[pillar_name || "nodegroups", nodegroups()]]),
});
