/**
 * The rules of Salt's loader for jobs whose plugins are in Python, as Salt 3008.3 answers (tests/corpus/python_rules),
 * of a minion without a master.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { pythonWith } from "./python_pool.ts";
import { type OnPurpose, replay, unexpected } from "./python_rules.ts";
import { MAKO_ON_PURPOSE, ON_PURPOSE } from "./python_rules_purpose.ts";

/** What is ours on purpose besides: the minion is one without a master. */
const MASTERLESS: Readonly<Record<string, OnPurpose>> = {
  dunders: { "br.opts": /'minion', 'local'\] 0$/ },
};

const mako = pythonWith("mako");

Deno.test({
  name: `templates of Mako are rendered as Salt's${mako === undefined ? " (ignored: no python3 here has mako)" : ""}`,
  ignore: mako === undefined,
  fn: async () => assertEquals(unexpected(await replay("mako", mako), MAKO_ON_PURPOSE), []),
});

for (const [rule, purpose] of Object.entries(ON_PURPOSE)) {
  Deno.test(`jobs with plugins in Python answer as Salt's: ${rule}`, async () => {
    assertEquals(unexpected(await replay(rule), { ...purpose, ...MASTERLESS[rule] }), []);
  });
}
