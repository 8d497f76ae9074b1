import { WireError } from "#lib/errors.ts";
import * as event from "#lib/bus/event.ts";
import { jobReturn } from "#lib/protocol/tags.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { unpackEvent } from "#tests/support/fleet/events.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "#tests/support/assert.ts";

const JID = "20240102030405678901";

function concat(...parts: (string | Uint8Array)[]): Uint8Array {
  const bytes = parts.map((part) => typeof part === "string" ? new TextEncoder().encode(part) : part);
  return new Uint8Array(bytes.flatMap((part) => [...part]));
}

Deno.test("a frame is the tag, two newlines, and the map with bytes kept as bytes", () => {
  const frame = event.packEvent("salt/key", map({ id: "web1", raw: new Uint8Array([1]) }));
  const hex = [...frame].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  assertEquals(hex, "73616c742f6b65790a0a82a26964a477656231a3726177c40101");
});

const TAGS = ["key", "a".repeat(17), "a".repeat(18), "a".repeat(19), "a".repeat(20), jobReturn(JID, "wéb1"), ""];
for (const tag of TAGS) {
  Deno.test(`an event is unpacked as it was packed, with a tag of ${tag.length} characters`, () => {
    // Values with many high bytes: none may be mistaken for the start of a frame in the old format.
    const data: ValueMap = map({ "": "é\n\nü".repeat(9), list: [null, true, 200, -3, 1.5], deep: { a: { b: [] } } });
    assertEquals(unpackEvent(event.packEvent(tag, data)), { tag, data });
  });
}

Deno.test("frames of the old format are read: tags padded to 20 bytes, or exactly 20 bytes long", () => {
  const data = map({ id: "web1", text: "a\n\nb" });
  assertEquals(unpackEvent(concat("auth".padEnd(20, "|"), encode(data, "disk"))), { tag: "auth", data });
  assertEquals(unpackEvent(concat(JID, encode(data, "disk"))), { tag: JID, data });
});

for (
  const [what, frame] of [
    ["nothing", new Uint8Array()],
    ["a tag alone", concat("salt/key")],
    ["no map", concat("salt/key\n\n", encode([1], "disk"))],
    ["half a map", concat("salt/key\n\n", encode(map({ a: 1 }), "disk").subarray(0, 3))],
    ["half an old map", concat("auth".padEnd(20, "|"), new Uint8Array([0x81, 0xa1]))],
  ] as const
) {
  Deno.test(`a frame with ${what} is refused`, () => {
    assertThrows(() => unpackEvent(frame), WireError);
  });
}

Deno.test("time stamps are UTC with microseconds, and increase within one millisecond", () => {
  const now = Date.UTC(2024, 0, 2, 3, 4, 5, 678);
  const first = event.stampNow(now), second = event.stampNow(now);
  assertMatch(first, /^2024-01-02T03:04:05\.678\d{3}\+00:00$/);
  assert(second > first);
  const data = map({ a: 1 });
  assertMatch(String(event.stamp(data).get("_stamp")), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
  assertEquals(data.has("_stamp"), false);
});

Deno.test("the data of an event with an unwanted tag are not decoded, except in the old format", () => {
  const frame = event.packEvent("salt/job/1/new", map({ a: 1 }));
  assertEquals(event.unpackMatching(frame, (tag) => tag === "salt/job/1/new"), {
    tag: "salt/job/1/new",
    data: map({ a: 1 }),
  });
  assertEquals(event.unpackMatching(frame, () => false), undefined);
  const broken = frame.slice(0, -1);
  assertEquals(event.unpackMatching(broken, () => false), undefined);
  assertThrows(() => event.unpackMatching(broken, () => true), WireError);
});
