/**
 * Templates have every filter, test and global that Salt's have, by the names that Salt's own environment held when it rendered.
 * @module
 */

import names from "../corpus/jinja_names.json" with { type: "json" };
import { saltGlobals } from "../../lib/templates/globals.ts";
import { FILTERS, TESTS } from "../../lib/templates/language.ts";
import { assertEquals } from "../support/assert.ts";

/** What the call that renders brings. */
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
