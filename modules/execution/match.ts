/**
 * Execution module `match`: whether this minion is meant by a target. Built are the matchers on the minion's id.
 * Source: Salt 3008.3 `salt/modules/match.py`.
 * @module
 */

import { TargetError } from "../../lib/errors.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import { matchesTarget } from "../../lib/fleet/target.ts";
import type { Value } from "../../lib/values/value.ts";

export const glob: ModuleFunction<JobContext> = fn({
  doc: describe("Whether a glob matches this minion's id, or `minion_id`.", "match.glob '*'"),
  params: { tgt: str(), minion_id: str(null) },
  run: ({ tgt, minion_id }, context) => matches("glob", { tgt, id: minion_id }, context),
});

export const pcre: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Whether a regular expression matches the start of this minion's id, or of `minion_id`.",
    "match.pcre '.*'",
  ),
  params: { tgt: str(), minion_id: str(null) },
  run: ({ tgt, minion_id }, context) => matches("pcre", { tgt, id: minion_id }, context),
});

export const list_: ModuleFunction<JobContext> = fn({
  doc: describe("Whether this minion's id, or `minion_id`, is in a list of ids.", "match.list 'server1,server2'"),
  params: { tgt: any(), minion_id: str(null) },
  run: ({ tgt, minion_id }, context) => matches("list", { tgt, id: minion_id }, context),
});

/** A pattern that cannot be read matches nothing, and the log says why. */
function matches(tgtType: string, asked: { tgt: Value; id: string | null }, context: JobContext): boolean {
  try {
    return matchesTarget(asked.tgt, tgtType, asked.id ?? context.opts.id);
  } catch (error) {
    if (!(error instanceof TargetError)) throw error;
    context.log("error", error.message);
    return false;
  }
}
