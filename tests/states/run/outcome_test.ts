import { hasSucceeded, terse } from "#lib/states/run/outcome.ts";
import { findCycle, GraphNode } from "#lib/states/compiler/graph.ts";
import { map, repr } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const [good, bad] = [{ result: true, changes: {} }, { result: false, changes: {} }];

Deno.test("succeeded() judges results, and results inside results, as Salt's check_result", () => {
  const rows: readonly (readonly [Record<string, unknown>, boolean])[] = [
    [{}, false],
    [{ a: 5 }, false],
    [{ a: good }, true],
    [{ a: good, b: bad }, false],
    [{ a: { result: null } }, true],
    [{ m1: { a: good } }, true],
    [{ m1: { a: bad } }, false],
    [{ m1: { a: good, n: 5 } }, true],
    [{ m1: { n: 5 } }, true],
    [{ m1: {} }, false],
    [{ __extend__: [1], a: good }, true],
    [{ __extend__: 5 }, false],
  ];
  for (const [results, expected] of rows) assertEquals(hasSucceeded(map(results)), expected, repr(map(results)));
});

Deno.test("terse() keeps what failed, what changed, and what is no result", () => {
  const changed = { result: true, changes: { a: 1 } };
  assertEquals(terse(map({ a: good, b: bad, c: changed, d: "text" })), map({ b: bad, c: changed, d: "text" }));
});

Deno.test("findCycle() finds no cycle where there is none, and the edges of one", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => new GraphNode<string, string>(name, name));
  const join = (from: GraphNode<string, string>, to: GraphNode<string, string>) => from.lead(to, "require");
  join(a, b), join(b, c), join(a, c);
  assertEquals(findCycle([a, b, c]), []);
  join(c, b);
  assertEquals(findCycle([a, b, c]).map(({ from, to, kind }) => `${from.data} ${kind} ${to.data}`), [
    "b require c",
    "c require b",
  ]);
});
