import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "environ");

Deno.test("environ.setenv with clear_all empties or removes all other variables", async () => {
  const { env } = Deno;
  const own = { toObject: env.toObject, set: env.set, delete: env.delete };
  const now = new Map<string, string>();
  env.toObject = () => Object.fromEntries(now);
  env.set = (key, value) => void now.set(key, value);
  env.delete = (key) => void now.delete(key);
  try {
    for (const [key, value] of [["A", "1"], ["B", "2"]]) now.set(key, value);
    const context = testContext();
    const set = await resultOrError(context, "environ.setenv", [map({ B: "3" })], { clear_all: true });
    assertEquals([set, [...now]], [map({ A: "", B: "3" }), [["A", ""], ["B", "3"]]]);
    const unset = await resultOrError(context, "environ.setenv", [map({ B: "4" })], {
      clear_all: true,
      false_unsets: true,
    });
    assertEquals([unset, [...now]], [map({ A: null, B: "4" }), [["B", "4"]]]);
  } finally {
    Object.assign(env, own);
  }
});

Deno.test("environ.items has all variables", async () => {
  const { env } = Deno;
  const { toObject } = env;
  env.toObject = () => ({ A: "1", B: "" });
  try {
    assertEquals(await resultOrError(testContext(), "environ.items"), map({ A: "1", B: "" }));
  } finally {
    env.toObject = toObject;
  }
});
