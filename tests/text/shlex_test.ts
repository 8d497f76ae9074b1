/** @module */
import { InvocationError } from "#lib/errors.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/shell_words.json" with { type: "json" };

Deno.test("shlexSplit() returns the words of Python's shlex.split, and refuses the same texts", () => {
  for (const [line, expected] of corpus) {
    if (typeof line !== "string") throw new TypeError("the corpus is broken");
    if (typeof expected === "string") {
      assertThrows(() => shlexSplit(line), InvocationError, expected, JSON.stringify(line));
    } else {
      assertEquals(shlexSplit(line), expected, JSON.stringify(line));
    }
  }
});
