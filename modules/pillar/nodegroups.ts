/**
 * External pillar `nodegroups`: which groups the minion is in.
 * Source: Salt 3008.3 `salt/pillar/nodegroups.py`.
 * @module
 */

import { type PillarSource, pillarSource } from "../../lib/plugins/pillar_source.ts";
import { str } from "../../lib/plugins/module.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Give a list of the node groups of the master's options that the minion is in, under `pillar_name`. Its grains decide,\n" +
    "and the pillar so far.",
  params: { pillar_name: str(null) },
  run: ({ pillar_name }, { nodegroups }) => new Map([[pillar_name || "nodegroups", nodegroups()]]),
});
