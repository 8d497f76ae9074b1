/**
 * The environment that a state's files come from: `__env__`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { str, truthy } from "#lib/values/value.ts";

/** The state's argument, unless the environment is locked, else the environment of its SLS file. */
export function saltenvOf({ low, opts }: StateContext): string {
  const own = opts.lock_saltenv ? undefined : low.get("saltenv");
  return str([own, low.get("__env__")].find(truthy) ?? "base");
}
