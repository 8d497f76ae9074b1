import { resultMap, stateResult } from "#lib/plugins/state_module.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const GOOD = { name: "x", result: true, comment: "done", changes: { a: 1 } };

Deno.test("a state's result is read with all its fields, and written again", () => {
  const taken = stateResult(map({ ...GOOD, comment: ["a", 1], warnings: ["w"] }));
  assertEquals([taken.result, taken.comment, taken.warnings], [true, ["a", "1"], ["w"]]);
  assertEquals(resultMap(stateResult(map(GOOD))), map(GOOD));
  assertEquals(stateResult(map({ ...GOOD, result: null, comment: null })).comment, "");
});

const BAD: readonly [Value, string][] = [
  ["text", "A state's result is a dict, not a str"],
  [null, "A state's result is a dict, not a NoneType"],
  [map({ ...GOOD, result: 1 }), "A state's result is true, false or null"],
  [map({ ...GOOD, changes: ["a"] }), "The changes of a state are a dict, not a list"],
  [map({ name: "x", result: true, comment: "" }), "The changes of a state are a dict, not a NoneType"],
];
for (const [value, reason] of BAD) {
  Deno.test(`a value that is not a state's result is rejected: ${reason}`, () => {
    assertThrows(() => stateResult(value), TypeError, reason);
  });
}
