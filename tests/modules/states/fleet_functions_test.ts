/**
 * The state functions that public fleets use, with Salt's arguments: tests/corpus/fleet_state_functions.json.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { readCorpus } from "#tests/support/typed_values.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { STATE_MODULES } from "#modules/states/_built_in.ts";
import { repr, toValue, type Value } from "#lib/values/value.ts";

interface Row {
  readonly fun: string;
  readonly fleets: number;
  readonly args: readonly { readonly name: string; readonly default?: unknown }[];
  readonly more: boolean;
}

const ROWS = await readCorpus<Row>("fleet_state_functions.json");
/** Salt's function accepts more arguments only to reject them in its result; here the compiler rejects them. */
const REFUSES_MORE = "git.latest";
// Without a host all modules are available, also without crontab.
const states = loadFamily<StateContext>(STATE_MODULES);

for (const { fun, fleets, args, more } of ROWS) {
  Deno.test(`${fun}, which ${fleets} of 12 fleets use, has Salt's arguments`, async () => {
    const state = await states.get(fun);
    assert(state !== undefined, `there is no ${fun}`);
    const shown = (name: string, value: Value | undefined) => value === undefined ? name : `${name}=${repr(value)}`;
    assertEquals(
      Object.entries(state.params).map(([name, parameter]) => shown(name, parameter.default)),
      args.map((one) => shown(one.name, "default" in one ? toValue(one.default) : undefined)),
    );
    assertEquals(state.varKwargs !== undefined, more && fun !== REFUSES_MORE);
  });
}

Deno.test("the list has the 28 functions that 5 or more fleets use", () => {
  assertEquals([ROWS.length, ROWS.every(({ fleets }) => fleets >= 5)], [28, true]);
});
