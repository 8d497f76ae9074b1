import { compilePillar, pillarTop } from "#lib/pillar/compile.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { equals, isMap, repr, str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { pillarCases, placeCase } from "#tests/support/files/pillar_cases.ts";

/** Each error begins with Salt's text; more may follow, such as the position. */
function assertErrors(errors: Value = [], expected: Value = []): void {
  assert(Array.isArray(errors) && Array.isArray(expected));
  assertEquals(errors.length, expected.length, repr(errors));
  for (const [i, error] of errors.entries()) {
    assert(str(error).startsWith(str(expected[i])), `${str(error)}\ndoes not begin with\n${str(expected[i])}`);
  }
}

for (const situation of pillarCases()) {
  Deno.test(`pillar ${situation.name}: ${str(situation.fields.get("about") ?? "")}`, async () => {
    using placed = placeCase(situation);
    const { signal } = new AbortController();
    const host = masterPillarHost(placed.opts, { log: SILENT_LOGGER, signal });
    const { pillar } = await compilePillar(placed.request, host);
    if ("raises" in placed.answer) {
      throw new Error(`Salt fails, and nothing says what is right: ${placed.answer.raises}`);
    }
    const { top } = placed.answer;
    if (top !== undefined) {
      const byEnv = (await pillarTop(placed.request, host)).top.targets;
      assertEquals(repr(new Map([...byEnv].map(([env, targets]) => [env, new Map(targets)]))), repr(top));
    }
    const expected = placed.answer.pillar;
    assert(isMap(expected));
    assertErrors(pillar.get("_errors"), expected.get("_errors"));
    for (const each of [pillar, expected]) each.delete("_errors");
    // A file system lists the entries of a directory in any order.
    if (situation.name.startsWith("ext_file_tree")) assert(equals(pillar, expected), repr(pillar));
    else assertEquals(repr(pillar), repr(expected));
  });
}
