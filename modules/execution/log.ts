/**
 * Execution module `log`: lines in the minion's log, for templates above all.
 * Source: Salt 3008.3 `salt/modules/logmod.py`.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str } from "#lib/values/value.ts";

/** A function that writes a line of a level. The minion's log has no level above `error`. */
function writes(level: "error" | "warning" | "info" | "debug", name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Write a line of the level ${name} to the minion's log.`, `log.${name} 'Something happened'`),
    params: { message: p.any() },
    run({ message }, context) {
      context.log(level, str(message));
      return true;
    },
  });
}

export const debug: ModuleFunction<JobContext> = writes("debug", "debug");
export const info: ModuleFunction<JobContext> = writes("info", "info");
export const warning: ModuleFunction<JobContext> = writes("warning", "warning");
export const error: ModuleFunction<JobContext> = writes("error", "error");
export const critical: ModuleFunction<JobContext> = writes("error", "critical");
export const exception: ModuleFunction<JobContext> = writes("error", "exception");
