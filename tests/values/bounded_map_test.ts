/** @module */
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("the number of entries is limited, and the oldest is removed first", () => {
  const recent = new BoundedMap<string, number>(2);
  recent.set("a", 1);
  recent.set("b", 2);
  recent.set("a", 3);
  assertEquals([recent.get("a"), recent.get("b")], [3, 2]);
  recent.set("c", 4);
  assertEquals([recent.get("a"), recent.get("b"), recent.get("c")], [undefined, 2, 4]);
  recent.delete("b");
  assertEquals(recent.get("b"), undefined);
  recent.set("d", 5);
  assertEquals([recent.get("b"), recent.get("c"), recent.get("d")], [undefined, 4, 5]);
});
