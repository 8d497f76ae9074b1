import type { Answer } from "#lib/commands/report/answers.ts";
import { groupAnswers, groupHeading } from "#lib/commands/report/groups.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const answer = (id: string, value: Answer["return"], retcode = 0): Answer => ({
  id,
  return: value,
  retcode,
  outcome: retcode === 0 ? "returned" : "failed",
});

Deno.test("minions with the same result are together, the largest group first", () => {
  const groups = groupAnswers([
    answer("web2", map({ a: [1] })),
    answer("db2", "x"),
    answer("web1", map({ a: [1] })),
    answer("db1", "x", 3),
    answer("web3", map({ a: [1] })),
    answer("db3", 1),
    answer("db4", "1"),
  ]);
  assertEquals(groups.map(({ ids }) => ids), [["web1", "web2", "web3"], ["db1"], ["db2"], ["db3"], ["db4"]]);
  assertEquals(groups[0].answer.return, map({ a: [1] }));
});

Deno.test("a heading names some minions and counts the rest, or names all", () => {
  const ids = Array.from({ length: 30 }, (_, i) => `m${i}`);
  assertEquals(groupHeading(["web1"], false), "web1");
  assertEquals(groupHeading(ids, false), `${ids.slice(0, 20).join(", ")} and 10 more (30 minions)`);
  assertEquals(groupHeading(ids, true), `${ids.join(", ")} (30 minions)`);
});
