/**
 * Wheel module `minions`: the connected minions. Source: Salt 3008.3 `salt/wheel/minions.py`.
 * @module
 */

import { runner, type RunnerFunction, wheelDoc } from "#lib/client/runner_context.ts";

export const connected: RunnerFunction = runner({
  doc: wheelDoc("List the accepted minions that are connected. No minion is asked.", "minions.connected"),
  params: {},
  run: async (_, context) => [...(await context.local.present()).keys()],
});
