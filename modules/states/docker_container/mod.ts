/**
 * State module `docker_container`: containers that run, are stopped, are gone, or are run once.
 * Source: Salt 3006.28 `salt/states/docker_container.py`, which Salt 3008 has no longer.
 * @module
 */

import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, stateFn, stateResult } from "#lib/plugins/state_module.ts";
import { str } from "#lib/values/value.ts";

export { run } from "./run.ts";
export { running } from "./running.ts";
export { absent, stopped } from "./stopping.ts";
export { NEEDS_DOCKER as virtual } from "./work.ts";

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc:
    "Called when a watched state has changed something: the container is replaced, gets a signal, is stopped, or is run.",
  params: { name: p.str(), sfun: p.str(null) },
  varKwargs: "kwargs",
  async run({ name, sfun }, context, { kwargs }) {
    const call = async (fun: string, more: Readonly<Record<string, boolean>> = {}) => {
      const given = new Map([...kwargs, ["name", name], ...Object.entries(more)]);
      return stateResult(await context.state(`docker_container.${fun}`, given));
    };
    if (sfun === "running") {
      const replaces = str(kwargs.get("watch_action") ?? "force") === "force";
      return await call("running", replaces ? { force: true } : { send_signal: true, force: false });
    }
    if (sfun === "stopped" || sfun === "run") return await call(sfun);
    return failState(name, `watch requisite is not implemented for ${str(sfun)}`);
  },
});
