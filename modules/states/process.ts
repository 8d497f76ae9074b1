/**
 * State module `process`: processes that are not to run.
 * Source: Salt 3008.3 `salt/states/process.py`.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";
import { isMap, map, truthy, type Value } from "#lib/values/value.ts";

function count(list: Value | undefined): number {
  return Array.isArray(list) ? list.length : 0;
}

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `No process runs whose command line contains a text.

name
    The text.

user
    Only processes of this user.

signal
    The number of the signal to send. Default: 15.`,
  params: { name: p.str(), user: p.any(null), signal: p.any(null) },
  async run({ name, user, signal }, context) {
    const none = "No matching processes running";
    if (context.test) {
      const running = await context.call("ps.pgrep", [name], map({ user }));
      const comment = truthy(running) ? `${count(running)} processes will be killed` : none;
      return { ...startResult(name, null), comment };
    }
    const how = { user, full: true, ...truthy(signal) && { signal } };
    const done = await context.call("ps.pkill", [name], map(how));
    if (!isMap(done) || done.size === 0) return { ...startResult(name), comment: none };
    return { name, result: true, comment: `Killed ${count(done.get("killed"))} processes`, changes: done };
  },
});
