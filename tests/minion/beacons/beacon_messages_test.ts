/**
 * Messages of threads of beacons that are none.
 * @module
 */

import { LookNote, parseFromBeacons, parseToBeacons } from "#lib/minion/beacons/beacon_messages.ts";
import { WireError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const bytes = new Uint8Array([0xc0]);

Deno.test("a message between a minion and its beacons is read as it was sent, and nothing else is", () => {
  const to = [
    { kind: "configure", beacons: bytes, stopped: ["a"], own: [] },
    { kind: "state_run", running: true },
    { kind: "result", id: 1, value: bytes },
    { kind: "refused", id: 1, reason: "no" },
  ];
  for (const message of to) assertEquals<unknown>(parseToBeacons(message), message);
  const from = [
    { kind: "found", events: bytes },
    { kind: "elsewhere", name: "a", permissions: "none" },
    { kind: "once", name: "a" },
    { kind: "mistake", name: "a", text: "wrong", runs: false },
    { kind: "call", id: 1, fun: "test.ping", call: bytes },
  ];
  for (const message of from) assertEquals<unknown>(parseFromBeacons(message), message);
  for (
    const wrong of [null, 5, [], {}, { kind: 5 }, { kind: "toString" }, ...from, ...to.map(({ kind }) => ({ kind }))]
  ) {
    assertThrows(() => parseToBeacons(wrong), WireError);
  }
  for (const wrong of [null, {}, { kind: "__proto__" }, ...to, ...from.map(({ kind }) => ({ kind }))]) {
    assertThrows(() => parseFromBeacons(wrong));
  }
});

Deno.test("the note of a beacon holds the beginning of a long name, and no rest of the one before", () => {
  const note = new LookNote(), reader = new LookNote(note.memory);
  assertEquals(reader.last, "");
  note.begin("x".repeat(1_000));
  assertEquals(reader.last, "x".repeat(255));
  note.begin("disk");
  assertEquals(reader.last, "disk");
});
