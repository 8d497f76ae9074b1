import { PythonError } from "#lib/errors.ts";
import { NO_KWARGS } from "#lib/python/object.ts";
import { BYTES_METHODS } from "#lib/python/sequence_methods.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The text of bytes in hexadecimal digits, as a template's `decode` gives it; of an error its type. */
function decoded(hex: string, encoding: string, errors: string): unknown {
  try {
    return BYTES_METHODS.get("decode")?.([Uint8Array.fromHex(hex), encoding, errors], NO_KWARGS, undefined as never);
  } catch (error) {
    return error instanceof PythonError ? error.type : error;
  }
}

Deno.test("bytes that are no text in an encoding are left out, replaced or refused as in Python", () => {
  // Answers of Python 3.11; the mark in the middle is a character of the text itself.
  const cases: readonly (readonly [hex: string, encoding: string, ignored: string, replaced: string])[] = [
    ["ff61efbfbdc3", "utf-8", "a\ufffd", "\ufffda\ufffd\ufffd"],
    ["e282efbfbdac61", "utf8", "\ufffda", "\ufffd\ufffd\ufffda"],
    ["efbbbf61ff", "utf-8", "\ufeffa", "\ufeffa\ufffd"],
    ["61c3a962", "ascii", "ab", "a\ufffd\ufffdb"],
    ["61e9", "latin-1", "aé", "aé"],
    ["c3a9", "UTF_8", "é", "é"],
  ];
  for (const [hex, encoding, ignored, replaced] of cases) {
    assertEquals([decoded(hex, encoding, "ignore"), decoded(hex, encoding, "replace")], [ignored, replaced], hex);
  }
  assertEquals([decoded("c3a9", "utf-8", "strict"), decoded("61", "ascii", "strict")], ["é", "a"]);
  assertEquals([decoded("61ff", "utf-8", "strict"), decoded("61ff", "ascii", "strict"), decoded("61", "x", "strict")], [
    "UnicodeDecodeError",
    "UnicodeDecodeError",
    "LookupError",
  ]);
});
