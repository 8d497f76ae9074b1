import { InvocationError } from "#lib/errors.ts";
import { encodeText, textDecoder } from "#lib/text/encoding.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

/** The bytes that Python 3.11 writes for `é` and a line end. */
const WRITTEN = {
  "utf-16": "fffee9000a00",
  "utf-16-le": "e9000a00",
  "UTF-16-BE": "00e9000a",
  "utf-32": "fffe0000e90000000a000000",
  utf_32_le: "e90000000a000000",
  "utf-32-be": "000000e90000000a",
  latin1: "e90a",
  "utf-8-sig": "efbbbfc3a90a",
} as const;

for (const [name, hex] of Object.entries(WRITTEN)) {
  Deno.test(`${name} is written and read as Python does`, () => {
    const bytes = encodeText("é\n", name);
    assertEquals(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""), hex);
    assertEquals(textDecoder(name)(bytes), { text: "é\n", exact: true });
  });
}

Deno.test("a byte order mark determines the byte order; it is part of the text if the encoding's name determines the order", () => {
  assertEquals(textDecoder("utf-16")(Uint8Array.of(0xfe, 0xff, 0, 0x61)).text, "a");
  assertEquals(textDecoder("utf-16-le")(Uint8Array.of(0xff, 0xfe, 0x61, 0)).text, "\ufeffa");
  assertEquals(textDecoder("utf-32")(Uint8Array.of(0, 0, 0xfe, 0xff, 0, 1, 0xf6, 0)).text, "😀");
});

Deno.test("invalid characters are found", () => {
  assertEquals(textDecoder("utf-32")(Uint8Array.of(0x61, 0, 0, 0, 0x62)), { text: "a\ufffd", exact: false });
  assertEquals(textDecoder("utf-32")(Uint8Array.of(0, 0xd8, 0, 0)).exact, false);
  assertEquals(textDecoder("utf-16")(Uint8Array.of(0x61)).exact, false);
  assertEquals(textDecoder("utf-32")(Uint8Array.of(0x61)), { text: "\ufffd", exact: false });
  assertThrows(() => encodeText("a", "utf-33"), InvocationError, "unknown encoding");
});

Deno.test("text is written only in encodings of bytes or of Unicode", () => {
  assertThrows(() => encodeText("a", "iso-2022-jp"), InvocationError, "unknown encoding: iso-2022-jp");
});
