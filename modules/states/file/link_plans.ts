/**
 * Shared parts of the states for symbolic and hard links. Source: Salt 3008.3 `salt/states/file.py` symlink, hardlink.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import type { StateResult } from "#lib/plugins/state_module.ts";
import { map, str, type Value } from "#lib/values/value.ts";

/** What a check in test mode says. */
export type LinkPlan = Pick<StateResult, "result" | "comment" | "changes">;

/** A {@linkcode LinkPlan}. */
export function checkLink(result: boolean | null, comment: string, changes: Record<string, Value> = {}): LinkPlan {
  return { result, comment, changes: map(changes) };
}

/** The errors of the arguments, in one comment; empty text if there are none. */
export async function problemsBefore(
  { user, group, more }: { readonly user: Value; readonly group: Value; readonly more: readonly string[] },
  context: StateContext,
): Promise<string> {
  const problems: string[] = [];
  if (await context.call("file.user_to_uid", [user]) === "") problems.push(`User ${str(user)} does not exist`);
  if (await context.call("file.group_to_gid", [group]) === "") problems.push(`Group ${str(group)} does not exist`);
  problems.push(...more);
  return problems.join(". ") + (problems.length > 1 ? "." : "");
}
