import { copyDeep } from "#lib/values/dict_update.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

Deno.test("a copy has copies of all lists and maps; one that occurs twice is copied once", () => {
  const shared = [1, map({ a: [2] })];
  const original = map({ x: shared, y: [shared] });
  const copy = copyDeep(original);
  assertEquals(copy, original);
  const [x, y]: (Value | undefined)[] = [copy.get("x"), copy.get("y")];
  assert(Array.isArray(x) && Array.isArray(y));
  assert(x !== shared && y[0] === x);
});
