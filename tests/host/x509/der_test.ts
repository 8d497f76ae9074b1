/** Invalid DER: each reader reports what it expected. Source of the encodings: ITU-T X.690. */

import {
  bitBytes,
  DerError,
  encodeInteger,
  expectTag,
  readBoolean,
  readChildren,
  readDer,
  readDerInteger,
  readOid,
  readTime,
  TAG,
} from "#lib/host/x509/der.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const read = (hex: string) => readDer(Uint8Array.fromHex(hex.replaceAll(" ", "")));

const WRONG: readonly [what: string, act: () => unknown, problem: string][] = [
  ["nothing", () => read(""), "The value is cut short"],
  ["a tag alone", () => read("30"), "The value is cut short"],
  ["a value that is too short", () => read("0403 0102"), "The value is cut short"],
  ["a length that is too short", () => read("0484 01"), "The value is cut short"],
  ["a length in more bytes than it needs", () => read("0482 0001 00"), "A length of more bytes than it needs"],
  ["a short length in the long form", () => read("0481 01 00"), "A length of more bytes than it needs"],
  ["more than a value", () => read("0500 00"), "More bytes follow the value"],
  ["an indefinite length", () => read("3080 0000"), "No definite length"],
  ["a length of five bytes", () => read("3085 0000000000"), "No definite length"],
  ["a tag of two bytes", () => read("1f81 0100"), "A tag of several bytes"],
  ["a child that is too short", () => readChildren(read("3002 0405")), "The value is cut short"],
  ["another tag", () => readChildren(read("0500"), TAG.sequence), "Tag 5 where 48 was expected"],
  ["no value", () => expectTag(undefined, TAG.oid), "Tag none where 6 was expected"],
  ["a number without digits", () => readDerInteger(read("0200")), "A number without digits"],
  ["a number with a zero too much", () => readDerInteger(read("0202 0001")), "A number of more bytes than it needs"],
  [
    "a negative number with a byte too much",
    () => readDerInteger(read("0202 ff80")),
    "A number of more bytes than it needs",
  ],
  ["a truth of its own", () => readBoolean(read("0101 01")), "Neither true nor false"],
  [
    "a part of an identifier with a zero too much",
    () => readOid(read("0603 2a8001")),
    "A number of more bytes than it needs",
  ],
  ["an identifier without its last byte", () => readOid(read("0602 2a86")), "An object identifier that does not end"],
  ["nine unused bits", () => bitBytes(read("0302 0900")), "A bit string with wrong unused bits"],
  ["unused bits that are set", () => bitBytes(read("0302 0101")), "A bit string with wrong unused bits"],
  ["unused bits of no byte", () => bitBytes(read("0301 01")), "A bit string with wrong unused bits"],
  ["a day that does not exist", () => readTime(read("170d 3236303233303030303030305a")), "No time: 260230000000Z"],
  ["an hour that does not exist", () => readTime(read("170d 3236303232303234303030305a")), "No time: 260220240000Z"],
  ["an identifier without parts", () => readOid(read("0600")), "An empty object identifier"],
  ["an identifier that does not end", () => readOid(read("0601 81")), "An empty object identifier"],
  [
    "an identifier of 64 bytes",
    () => readOid(read(`0640 ${"01".repeat(64)}`)),
    "An object identifier that is too long",
  ],
  ["bits without their first byte", () => bitBytes(read("0300")), "A bit string without its first byte"],
  ["a time without Z", () => readTime(read("170c 323630313031303030303030")), "No time: 260101000000"],
  ["a time of another tag", () => readTime(read("040f 32303236303130313030303030305a")), "No time: 20260101000000Z"],
];
for (const [what, act, problem] of WRONG) {
  Deno.test(`DER with ${what} is rejected`, () => assertEquals(assertThrows(act, DerError).message, problem));
}

Deno.test("numbers at the edges of their bytes are read as they are written", () => {
  for (const n of [0, 1, 127, 128, 255, 256, -1, -128, -129, -256]) {
    assertEquals(readDerInteger(readDer(encodeInteger(n))), BigInt(n));
  }
});
