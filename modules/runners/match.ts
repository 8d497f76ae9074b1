/**
 * Runner `match`: whether a target matches a minion, decided on the master. Source: Salt 3008.3
 * `salt/runners/match.py`.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { acceptedFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { p } from "#lib/plugins/module.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { map } from "#lib/values/value.ts";

export const compound_matches: RunnerFunction = runner({
  doc: runnerDoc(
    `Return whether a compound target matches a minion, by the master's cached data: \`{res: <its id>}\`, else \`{res: False}\`.

Pillar values must be named exactly, so that nobody can search for them. A minion without cached data does not match a term of
grains, pillar or addresses.

expr
    The compound target.

minion_id
    The minion.`,
    "match.compound_matches 'I@foo:bar and G@os:Deb* and not db*' myminion",
  ),
  params: { expr: p.any(), minion_id: p.str() },
  run({ expr, minion_id }, { opts, keys, data, log }) {
    const no = map({ res: false });
    if (!opts.minion_data_cache) {
      log("warning", "The minion data cache is disabled: nothing is known that a compound target could ask for");
      return no;
    }
    if (!isValidId(minion_id)) return no;
    try {
      const target = { tgt: expr, tgtType: "compound_pillar_exact" };
      const { minions } = resolveTarget(target, acceptedFleet(opts, { keys, data }), { greedy: false });
      return minions.includes(minion_id) ? map({ res: minion_id }) : no;
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      log("warning", error.message);
      return no;
    }
  },
});
