/**
 * The environment that a state's files come from: `__env__`.
 * @module
 */

import type { StateContext } from "../../lib/plugins/job_context.ts";
import { str, truthy } from "../../lib/values/value.ts";

/** What the state says itself, or the environment of its SLS file. */
export function saltenvOf({ low }: StateContext): string {
  const own = low.get("saltenv") ?? low.get("__env__");
  return truthy(own) ? str(own ?? "") : "base";
}
