/** @module */
import { packEvent, unpackMatching } from "#lib/bus/event.ts";
import { peerMark, peerMarkOf, withoutPeerMark, withPeerMark } from "#lib/bus/peer_mark.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const MARK = { id: "master-a", seq: 178_000_000_000_001 };

function dataOf(frame: Uint8Array | undefined): ValueMap {
  const event = frame && unpackMatching(frame, () => true);
  if (event === undefined) throw new Error("no event");
  return event.data;
}

Deno.test("an event gets a mark, whatever the size of its data, and keeps all of them", () => {
  for (const size of [0, 1, 14, 15, 16, 70_000]) {
    const data = map(Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, i])));
    const frame = packEvent("salt/job/1/ret/web1", data);
    const marked = withPeerMark(frame, MARK);
    assert(marked !== undefined, String(size));
    assertEquals(peerMark(marked), MARK);
    assertEquals(peerMark(frame), undefined);
    const whole = dataOf(marked);
    assertEquals([whole.size, peerMarkOf(whole)], [size + 2, MARK]);
    assertEquals(withoutPeerMark(whole), data);
  }
});

Deno.test("what only looks like a mark is none: it lies deeper in the data, or is no event", () => {
  const inner = dataOf(withPeerMark(packEvent("t", map({ x: 1 })), MARK));
  const frame = packEvent("salt/minion/web1/x", map({ data: inner }));
  assertEquals(peerMark(frame), undefined);
  // The ninth byte from the end is that of a number of 64 bits, without the name of the mark before it.
  const number = packEvent("salt/minion/web1/x", map({ peer_number: 2 ** 40 }));
  assertEquals([number.at(-9), peerMark(number)], [0xcf, undefined]);
  assertEquals(withPeerMark(new TextEncoder().encode("tag\n\n\x01"), MARK), undefined);
  assertEquals(withPeerMark(new TextEncoder().encode("no event"), MARK), undefined);
  assert(isMap(inner));
});
