import { WireError } from "#lib/errors.ts";
import { fieldsOf, readNumber } from "#lib/runtime/message_fields.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { Float, map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a number of a message may be an integer or not, from bytes or from a structured clone", () => {
  for (const value of [5, 2.5]) {
    assertEquals(readNumber(fieldsOf({ value }), "value"), value);
    assertEquals(readNumber(fieldsOf(decode(encode(map({ value }), "disk"), "disk")), "value"), value);
  }
  assertEquals(readNumber(fieldsOf(map({ value: new Float(5) })), "value"), 5);
  for (const value of ["5", null, true, 5n]) {
    assertThrows(() => readNumber(fieldsOf({ value }), "value"), WireError, "no number");
  }
});
