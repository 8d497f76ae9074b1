/** @module */
import { WatchedMap } from "#lib/pillar/watched_map.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** An operation on a copy of `{a: 1}`, and the reads that the watcher reports. */
const CASES: Readonly<Record<string, [act: (map: WatchedMap) => unknown, reports: string[]]>> = {
  "get": [(map) => map.get("a"), ["key a 1"]],
  "get of no such key": [(map) => map.get("b"), ["key b undefined"]],
  "has": [(map) => map.has("a"), ["key a 1"]],
  "has of no such key": [(map) => map.has("b"), ["key b undefined"]],
  "set": [(map) => map.set("b", 2), ["changed"]],
  "delete": [(map) => map.delete("a"), ["changed"]],
  "clear": [(map) => map.clear(), ["changed"]],
  "size": [(map) => map.size, ["all"]],
  "keys": [(map) => [...map.keys()], ["all"]],
  "values": [(map) => [...map.values()], ["all"]],
  "entries": [(map) => [...map.entries()], ["all"]],
  "for … of": [(map) => [...map], ["all"]],
  "forEach": [(map) => map.forEach(() => {}), ["all"]],
};

for (const [name, [act, reports]] of Object.entries(CASES)) {
  Deno.test(`a watched map: ${name} reports ${reports.join()}, and behaves like a map`, () => {
    const source = new Map<Value, Value>([["a", 1]]), plain = new Map(source);
    const seen: string[] = [];
    const watched = new WatchedMap(source, {
      key: (key, value) => seen.push(`key ${key} ${value}`),
      all: () => seen.push("all"),
      changed: () => seen.push("changed"),
    });
    const result = act(watched);
    assertEquals(seen, reports);
    const expected = act(plain as unknown as WatchedMap);
    if (name !== "set") assertEquals(result, expected);
    assertEquals(new Map(watched.entries()), plain);
    assertEquals(source, new Map([["a", 1]]));
  });
}
