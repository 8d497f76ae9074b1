/**
 * Whether a call is in test mode.
 * Source: Salt 3008.3, `_get_test_value` of `salt/modules/state.py`, `test_mode` of `salt/utils/args.py`.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Whether nothing may be changed: the argument `test`, in any spelling of its letters; else a value `test: True` of
 * grains or pillar; else the option. An argument that is not a bool, such as `yes`, is meant to be true.
 */
export function isTestMode(test: Value, kwargs: ValueMap, { opts, grains, pillar }: JobContext): boolean {
  if (test !== null) return test !== false;
  for (const [name, value] of kwargs) {
    if (typeof name === "string" && name.toLowerCase() === "test" && isTrue(value)) return true;
  }
  if (grains.get("test") === true || pillar.get("test") === true) return true;
  return truthy(opts.test);
}
