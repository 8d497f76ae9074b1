/**
 * Options that the functions for texts and searches reject with a reason, while Salt shows a stack trace.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { editKeyValues } from "#lib/host/filesystem/key_value_editing.ts";
import { readSearch } from "#lib/host/filesystem/finding.ts";
import { replaceByPsed } from "#lib/host/filesystem/text_replacing.ts";
import { whitespaceRegex } from "#lib/host/filesystem/whitespace_regex.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("unsupported options are rejected by name", () => {
  const edit = {
    values: new Map([["a", "1"]]),
    separator: "",
    keyIgnoreCase: false,
    valueIgnoreCase: false,
    missing: "nowhere",
    prune: false,
    count: 1,
    uncomment: null,
  } as const;
  assertThrows(() => editKeyValues("a=1\n", edit), CommandError, "empty separator");
  const programs = { run: () => Promise.reject(new Error("no command runs")), failed: () => {} };
  for (const [name, value] of [["maxdepth", "x"], ["mindepth", "-1"], ["maxdepth", true]] as const) {
    assertThrows(
      () => readSearch(map({ [name]: value }), programs),
      CommandError,
      `invalid value for "${name}" option`,
    );
  }
  assertEquals(readSearch(map({ mindepth: "1", maxdepth: null }), programs).maxDepth, Infinity);
  const change = { before: "a", after: "b", limit: "", flags: "gq" };
  assertThrows(() => replaceByPsed("a", change), CommandError, "'q' is no flag: it is one of g, I, L, M, S, U, X");
});

Deno.test("words of a line are separated by any white space, and a quoted text keeps its white space", () => {
  const cases: readonly (readonly [text: string, matching: readonly string[], other: readonly string[]])[] = [
    ["a b", ["a   b", "  a\tb ", "ab"], ["a b c", "b a"]],
    [`it's "a b"`, [`it's   "a b"`], [`it's "a  b"`]],
    [`say "a b"`, [`say  "a  b"`], [`say "a" b`]],
    [`'\\" a b`, [`'\\"  a  b`], ["a b"]],
  ];
  for (const [text, matching, other] of cases) {
    const regex = new RegExp(whitespaceRegex(text).replace("(?m)", ""), "m");
    for (const one of matching) assertEquals(regex.test(one), true, `${text}: ${one}`);
    for (const one of other) assertEquals(regex.test(one), false, `${text}: ${one}`);
  }
  assertThrows(() => whitespaceRegex(`it's "open`), InvocationError, "No closing quotation");
});
