/** @module */
import { copyDeep, updateMap } from "#lib/values/dict_update.ts";
import { isOrdered, markOrdered } from "#lib/values/ordered.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const flow = (value: Value, ordered: boolean) => dumpYaml(value, { flow: true, ordered }).trim();

Deno.test("maps that renderer yaml has read are written in their order, others sorted", () => {
  const value = loadYaml("z: 1\nb: &b {y: 1, a: [{d: 1, c: 2}]}\na: *b\n");
  assertEquals(flow(value, true), "{a: {a: [{c: 2, d: 1}], y: 1}, b: {a: [{c: 2, d: 1}], y: 1}, z: 1}");
  markOrdered(value);
  const text = "{z: 1, b: {y: 1, a: [{d: 1, c: 2}]}, a: {y: 1, a: [{d: 1, c: 2}]}}";
  assertEquals(flow(value, true), text);
  assertEquals(flow(copyDeep(value), true), text);
  assertEquals(flow(value, false), "{a: {a: [{c: 2, d: 1}], y: 1}, b: {a: [{c: 2, d: 1}], y: 1}, z: 1}");
});

Deno.test("a merged map has the class of the one that was updated, as Python's has", () => {
  const [marked, plain] = [loadYaml("z: 1\na: 1\n"), map({ q: 1, c: 1 })];
  markOrdered(marked);
  assert(isMap(marked));
  assertEquals(isOrdered(updateMap(marked, plain, { mergeLists: false })), true);
  assertEquals(isOrdered(updateMap(plain, marked, { mergeLists: false })), false);
});
