/**
 * Keys and values in a text, as `file.keyvalue` edits them.
 * @module
 */

import { editKeyValues } from "#lib/host/filesystem/key_value_editing.ts";
import { CommandError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("lines of other keys are taken out if that is asked for, and stay otherwise; a key without a separator is no entry", () => {
  const edit = (prune: boolean) =>
    editKeyValues("a=1\nother=2\nb=3\nb", {
      values: new Map([["a", "x"], ["b", "3"]]),
      separator: "=",
      count: 2,
      uncomment: null,
      keyIgnoreCase: false,
      valueIgnoreCase: false,
      missing: "nowhere",
      prune,
    });
  assertEquals([edit(true).text, edit(true).changed, edit(true).deleted], ["a=x\nb=3\nb", 1, 1]);
  assertEquals([edit(false).text, edit(false).changed, edit(false).deleted], ["a=x\nother=2\nb=3\nb", 1, 0]);
});

Deno.test("an edit without a separator is refused, and one that finds everything in place counts nothing", () => {
  const edit = (separator: string) =>
    editKeyValues("a=1\n", {
      values: new Map([["a", "1"]]),
      separator,
      count: 1,
      uncomment: null,
      keyIgnoreCase: false,
      valueIgnoreCase: false,
      missing: "nowhere",
      prune: false,
    });
  assertThrows(() => edit(""), CommandError, "empty separator");
  assertEquals(edit("="), { text: "a=1\n", diff: [], changed: 0, deleted: 0 });
});
