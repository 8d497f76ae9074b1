/**
 * State module `vault`: policies of Vault.
 * Source: Salt 3007.15 `salt/states/vault.py`, which Salt 3008 has no longer.
 * @module
 */

import { failureText } from "./_execution.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";

/** The rules that a policy has; a result: they cannot be read. */
async function existingRules(name: string, context: StateContext): Promise<{ rules: Value } | StateResult> {
  try {
    return { rules: await context.call("vault.policy_fetch", [name]) };
  } catch (error) {
    return failState(name, `Failed to read policy: ${failureText(error)}`);
  }
}

/** A text's lines with their ends. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

export const policy_present: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a policy exists with these rules.\n\nname\n    The policy.\n\nrules\n    Its rules, in HCL.",
  params: { name: p.str(), rules: p.str() },
  async run({ name, rules }, context) {
    const existing = await existingRules(name, context);
    if (!("rules" in existing)) return existing;
    if (existing.rules === rules) {
      return { ...startResult(name), comment: "Policy exists, and has the correct content" };
    }
    const verb = existing.rules === null ? "created" : "updated";
    const changes = map({ [name]: unifiedDiff(linesOf(str(existing.rules ?? "")), linesOf(rules)).join("") });
    if (context.test) return { ...startResult(name, null), comment: `Policy would be ${verb}`, changes };
    try {
      await context.call("vault.policy_write", [name, rules]);
    } catch (error) {
      return failState(name, `Failed to write policy: ${failureText(error)}`);
    }
    return { ...startResult(name), comment: `Policy has been ${verb}`, changes };
  },
});

export const policy_absent: ModuleFunction<StateContext> = stateFn({
  doc: "Make sure that a policy does not exist.\n\nname\n    The policy.",
  params: { name: p.str() },
  async run({ name }, context) {
    const existing = await existingRules(name, context);
    if (!("rules" in existing)) return existing;
    if (existing.rules === null) return { ...startResult(name), comment: "Policy is already absent" };
    const changes = map({ deleted: name });
    if (context.test) return { ...startResult(name, null), comment: "Policy would be deleted", changes };
    try {
      if (!truthy(await context.call("vault.policy_delete", [name]))) {
        const text = "Policy was initially reported as existent, but seemed to be absent while deleting.";
        return failState(name, `Failed to delete policy: ${text}`);
      }
    } catch (error) {
      return failState(name, `Failed to delete policy: ${failureText(error)}`);
    }
    return { ...startResult(name), comment: "Policy has been deleted", changes };
  },
});
