import { commonPrefix, compileMatchExpression } from "#lib/text/expr_match.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/wheel.json" with { type: "json" };

const ALL = corpus.expressions.find(([expression]) => expression === "*")?.[1] as string[];

for (const [expression, expected] of corpus.expressions as [string, string[]][]) {
  Deno.test(`the expression ${JSON.stringify(expression)} matches the same ids as in Salt`, () => {
    assertEquals(ALL.filter(compileMatchExpression(expression)), expected);
  });
  Deno.test(`all that ${JSON.stringify(expression)} matches begins with its common prefix`, () => {
    const prefix = commonPrefix(expression);
    for (const tag of expected) assert(tag.startsWith(prefix), `${tag} does not begin with ${prefix}`);
  });
}

const PREFIXES = [
  ["salt/job/*/ret/*", "salt/job"],
  ["salt/minion/web1/start", "salt/minion/web1/start"],
  ["salt/run/[0-9]+/ret", "salt/run/"],
  ["a|b", ""],
  ["*", ""],
] as const;
for (const [expression, prefix] of PREFIXES) {
  Deno.test(`the common prefix of ${expression} is "${prefix}"`, () => assertEquals(commonPrefix(expression), prefix));
}

Deno.test("an expression that takes too many steps on a text does not match it", () => {
  const matches = compileMatchExpression("(a|b|ab)*c?");
  assertEquals([matches("ab".repeat(100)), matches(`${"ab".repeat(400_000)}d`)], [true, false]);
});
