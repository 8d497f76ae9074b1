/** Keys and values in a text, as `file.keyvalue` edits them. @module */

import { editKeyValues } from "#lib/host/filesystem/key_value_editing.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("lines of other keys are taken out if that is asked for, and stay otherwise; a key without a separator is no entry", () => {
  const edit = (prune: boolean) =>
    editKeyValues("a\na=1\nother=2\nb=3\n", {
      values: new Map([["a", "x"], ["b", "3"]]),
      separator: "=",
      count: 1,
      uncomment: null,
      keyIgnoreCase: false,
      valueIgnoreCase: false,
      missing: "nowhere",
      prune,
    });
  assertEquals([edit(true).text, edit(true).deleted], ["a\na=x\nb=3\n", 1]);
  assertEquals([edit(false).text, edit(false).deleted], ["a\na=x\nother=2\nb=3\n", 0]);
});
