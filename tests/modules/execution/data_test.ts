import type { Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "data");

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("data.cas sets a key if its value is the expected one", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({}, { cachedir: root });
    await context.call("data.update", ["k", "one"]);
    assertEquals(await resultOrError(context, "data.cas", ["k", "two", "none"]), false);
    assertEquals(await resultOrError(context, "data.get", ["k"]), "one");
    assertEquals(await resultOrError(context, "data.cas", ["k", "two", "one"]), true);
    assertEquals(await resultOrError(context, "data.get", ["k"]), "two");
  });
});

Deno.test("data.pop removes a key, and returns its value or the default", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({}, { cachedir: root });
    await context.call("data.update", ["k", "one"]);
    await context.call("data.update", ["none", null]);
    const pop = (...args: Value[]) => resultOrError(context, "data.pop", args);
    assertEquals([await pop("k"), await pop("k"), await pop("k", "default")], ["one", null, "default"]);
    // A value of None is a value.
    assertEquals(await pop("none", "default"), null);
    assertEquals(await resultOrError(context, "data.items"), new Map());
  });
});
