/**
 * Templates have every filter, test and global of Salt, by the names in Salt's environment during a rendering.
 * @module
 */

import names from "#tests/corpus/jinja_names.json" with { type: "json" };
import { saltGlobals } from "#lib/jinja/salt/globals.ts";
import { FILTERS, TESTS } from "#lib/jinja/salt/language.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The names that the rendering call adds. */
const VARIABLES = ["grains", "opts", "pillar", "salt", "saltenv", "sls", "tplpath"];

for (
  const [kind, ours, theirs] of [
    ["filters", FILTERS, names.filters],
    ["tests", TESTS, names.tests],
    ["globals", saltGlobals(), names.globals.filter((name) => !VARIABLES.includes(name))],
  ] as const
) {
  Deno.test(`templates have the ${kind} of Salt's`, () => {
    assertEquals([...ours.keys()].sort(), theirs.toSorted());
  });
}
