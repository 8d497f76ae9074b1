import { isMergeStrategy, mergeMaps } from "#lib/values/dict_merge.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { parseJson } from "#lib/values/json_read.ts";

const rows = parseJson(await Deno.readTextFile(new URL("../corpus/dict_merge.json", import.meta.url)));

function mapAt(row: Value, name: string): ValueMap {
  const value = isMap(row) ? row.get(name) : undefined;
  assert(isMap(value));
  return value;
}

Deno.test("maps are merged by each strategy as in Salt, and are not changed", () => {
  assert(Array.isArray(rows) && rows.length > 100);
  for (const row of rows) {
    assert(isMap(row));
    const [a, b, merged] = [mapAt(row, "a"), mapAt(row, "b"), mapAt(row, "merged")];
    const before = repr([a, b]);
    const strategy = str(row.get("strategy") ?? null), mergeLists = row.get("merge_lists") === true;
    const what = `${before} ${strategy} ${mergeLists}`;
    assertEquals(repr(mergeMaps(a, b, { strategy, renderer: "jinja|yaml", mergeLists })), repr(merged), what);
    assertEquals(repr([a, b]), before, what);
  }
});

Deno.test("smart aggregates if the renderer is yamlex", () => {
  const [a, b] = [map({ x: { a: 1 } }), map({ x: { b: 2 } })];
  const merged = (renderer: string) => repr(mergeMaps(a, b, { strategy: "smart", renderer }));
  assertEquals(merged("jinja|yaml"), "{'x': {'a': 1, 'b': 2}}");
  for (const renderer of ["jinja|yamlex", "yamlex_jinja"]) assertEquals(merged(renderer), "{'x': {'b': 2}}");
});

Deno.test("the strategies are those of Salt", () => {
  const names = ["smart", "recurse", "overwrite", "aggregate", "list", "none", "nope", "constructor"];
  assertEquals(names.filter(isMergeStrategy), names.slice(0, 6));
});
