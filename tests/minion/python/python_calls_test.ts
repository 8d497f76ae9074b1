/**
 * The rules of Salt's loader for `salt-call`, with a master and without, as Salt 3008.3 shows them
 * (tests/corpus/python_calls).
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { type CallMode, type CallsOnPurpose, replayCalls } from "./python_calls.ts";

/** What is ours on purpose: in both modes, and in one. */
const ON_PURPOSE: Readonly<Record<string, Readonly<Partial<Record<"both" | CallMode, CallsOnPurpose>>>>> = {
  arguments: {
    both: {
      // Both show what begins with `br`.
      "br": /'bridge\.check': /,
      "br.nothing_here": /is not available\. Did you mean br\.nothing\?/,
    },
  },
  failures: {
    both: {
      // Salt shows the generator itself.
      "br.generator": /ValueError: in a generator/,
      // What a plugin prints goes to standard error, so that standard output is JSON.
      "br.printed": /^\{'local': 'done'\} (?:'[^']*' )?0$/,
      // Salt's own levels are methods of its logger; `quiet` is none of them.
      "br.logged": /^\{'local': 'salt\.loaded\.ext\.module\.br'\} 0$/,
    },
  },
};

for (const [rule, purpose] of Object.entries(ON_PURPOSE)) {
  for (const mode of ["live", "local"] as const) {
    Deno.test(`salt-call with plugins in Python shows what Salt's shows: ${rule}, ${mode}`, async () => {
      assertEquals(await replayCalls(rule, mode, { ...purpose.both, ...purpose[mode] }), []);
    });
  }
}
