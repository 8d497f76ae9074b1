/**
 * The expression for a text whatever white space it has.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { whitespaceRegex } from "#lib/host/filesystem/whitespace_regex.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a quote that is not closed is refused, but where both kinds stand together no quote counts", () => {
  assertThrows(() => whitespaceRegex(`it's "a b`), InvocationError, "No closing quotation");
  const space = "(?:[\\s]+)?";
  assertEquals(whitespaceRegex(`'\\" "a b`), `(?m)^${space}'\\\\"${space}"a${space}b${space}$`);
});
