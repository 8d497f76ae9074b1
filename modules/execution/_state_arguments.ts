/**
 * Shared parts of the module `state`: arguments, and the refusal while another function runs. Source: Salt 3008.3
 * `salt/modules/state.py`.
 * @module
 */

import { conflictOf } from "../../lib/highstate/conflicts.ts";
import type { JobContext } from "../../lib/plugins/job_context.ts";
import { RETCODE } from "../../lib/highstate/retcode.ts";
import type { Value, ValueMap } from "../../lib/values/value.ts";

/** The documentation of arguments that all functions have. */
export const ARGUMENTS = `
saltenv
    The environment of files and states. Default: the option of that name, else \`base\` for named files and every one for the
    top file.

pillar
    Pillar data that win over the others, as a dictionary; with \`pillar_enc\` encrypted by the renderer of that name.

pillarenv
    The one environment of pillar.

queue : False
    Wait until other state functions of this minion have ended, instead of refusing.`;

/** The documentation of arguments of functions that run states. */
export const RUN_ARGUMENTS = `
test
    Only say what would be changed. Default: the option of that name.

exclude
    States that are left out: SLS names with globs, with commas or as a list, or a list of maps with \`sls\` or \`id\`.
${ARGUMENTS}

concurrent : False
    Run beside other state functions. States that change the same things then get in each other's way.

mock : False
    Call no state, and show that the requisites can be met.

state_events
    Tell the master of every state that has run. Default: the option of that name.

terse : False
    Return only what failed or changed something.

cache, cache_name
    Run the high data of the last run again, which lie under that name (\`highstate\`); no SLS file is fetched.

localconfig
    A file with options that replace the minion's for this call.

force : False
    Run even if the pillar could not be compiled.`;

/** All permissions, because templates and states may do anything. */
export const COMMON = { permissions: "all", varKwargs: "kwargs" } as const;

/** The result of `run`; while another state function runs, a message that names it, and return code 1. */
export async function unlessConflict(
  { queue, kwargs, context }: { queue: Value; kwargs: ValueMap; context: JobContext },
  run: () => Promise<Value>,
): Promise<Value> {
  const conflict = await conflictOf(context, queue, kwargs);
  if (conflict === undefined) return await run();
  context.setRetcode(RETCODE.compile);
  return conflict;
}
