/**
 * The rules of Salt's loader for jobs whose plugins are in Python, as Salt 3008.3 answers (tests/corpus/python_rules),
 * of a minion that synchronizes them from its master, and is called through it.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { pythonWith } from "./python_pool.ts";
import { replayWithMaster, unexpected } from "./python_rules.ts";
import { MAKO_ON_PURPOSE, ON_PURPOSE } from "./python_rules_purpose.ts";

const mako = pythonWith("mako");

Deno.test({
  name: `with a master, templates of Mako are rendered as Salt's${
    mako === undefined ? " (ignored: no python3 here has mako)" : ""
  }`,
  ignore: mako === undefined,
  fn: async () => assertEquals(unexpected(await replayWithMaster("mako", MAKO_ON_PURPOSE, mako), MAKO_ON_PURPOSE), []),
});

for (const [rule, purpose] of Object.entries(ON_PURPOSE)) {
  Deno.test(`with a master, jobs with plugins in Python answer as Salt's: ${rule}`, async () => {
    assertEquals(unexpected(await replayWithMaster(rule, purpose), purpose), []);
  });
}
