/**
 * Runner `audit`: the audit log of salt-api. Not in Salt.
 * @module
 */

import { auditPath, verifyAudit } from "#lib/auth/audit_log.ts";
import { CommandError } from "#lib/errors.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { map } from "#lib/values/value.ts";

export const verify: RunnerFunction = runner({
  doc: runnerDoc(
    `Check the chain of hashes of the audit log of salt-api, and fail with the number of the first line that was changed or is
missing. Returns the number of lines and the hash of the last one: kept elsewhere, it shows later whether lines are missing at the end.`,
    "audit.verify",
  ),
  params: {},
  async run(_, { opts }) {
    const path = auditPath(opts.cachedir);
    const { lines, last, broken } = await verifyAudit(path);
    if (broken !== undefined) {
      throw new CommandError(`Line ${broken} of ${path} was changed, or a line before it is missing`);
    }
    return map({ lines, last });
  },
});
