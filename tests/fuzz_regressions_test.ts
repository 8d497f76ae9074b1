/**
 * What the fuzzer found, or what was found on the way to it: one input a test.
 * @module
 */

import { packEvent, unpackEvent } from "../lib/event.ts";
import { map } from "../lib/value.ts";
import { assertEquals } from "./assert.ts";

Deno.test("a tag behind a byte order mark is not read as the tag itself", () => {
  const tag = "\ufeffsalt/auth";
  assertEquals(unpackEvent(packEvent(tag, map({}))).tag, tag);
});

Deno.test("a long tag that is an event of the old form is read as a tag all the same", () => {
  // 0xde 0x80 0x20 is a map of 0x8020 entries, which printable ASCII (small ints) fills up to the newlines.
  const tag = `salt/auth${"|".repeat(11)}\u0780 ${"0".repeat(2 * 0x8020 - 3)}`;
  const event = unpackEvent(packEvent(tag, map({ a: 1 })));
  assertEquals([event.tag === tag, event.data], [true, map({ a: 1 })]);
});
