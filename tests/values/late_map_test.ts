/** @module */
import { LateMap } from "#lib/values/late_map.ts";
import { isMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { strictTest } from "#tests/support/strict.ts";

function counted() {
  const made = { times: 0 };
  const all = (): [string, number][] => {
    made.times++;
    return [["core", 1], ["own", 3], ["last", 4]];
  };
  return { made, late: new LateMap<string, number>([["own", 3]], all, ["switch"]) };
}

strictTest("what is known, and what never comes, is answered without making the rest", () => {
  const { made, late } = counted();
  assertEquals([late.get("own"), late.has("own"), late.get("switch"), late.has("switch")], [3, true, undefined, false]);
  assertEquals(made.times, 0);
  assert(isMap(late));
});

const OPERATIONS: Readonly<Record<string, (late: LateMap<string, number>) => unknown>> = {
  "get()": (late) => late.get("core") === 1,
  "get() of what there is not": (late) => late.get("nothing") === undefined,
  "has()": (late) => late.has("core"),
  "size": (late) => late.size === 3,
  "forEach()": (late) => {
    let sum = 0;
    late.forEach((value) => sum += value);
    return sum === 8;
  },
  "entries()": (late) => [...late.entries()].length === 3,
  "keys()": (late) => [...late.keys()].join() === "core,own,last",
  "values()": (late) => [...late.values()].join() === "1,3,4",
  "for … of": (late) => [...late].length === 3,
  "a copy": (late) => new Map(late).size === 3,
  "set()": (late) => late.set("new", 5) === late && late.size === 4 && late.get("core") === 1,
  "delete()": (late) => late.delete("core") && late.size === 2 && !late.has("core"),
};

for (const [operation, holds] of Object.entries(OPERATIONS)) {
  strictTest(`${operation} makes all entries, once, in their order`, () => {
    const { made, late } = counted();
    assert(holds(late));
    assertEquals(made.times, 1);
    assertEquals(late.get("last"), 4);
    assertEquals(made.times, 1);
  });
}

strictTest("a map that was cleared is empty, and makes nothing", () => {
  const { made, late } = counted();
  late.clear();
  assertEquals([late.size, late.get("core"), made.times], [0, undefined, 0]);
});
