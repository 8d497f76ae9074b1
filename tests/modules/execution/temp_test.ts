import type { Value } from "#lib/values/value.ts";
import { assert } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("temp.dir makes a new directory, and names one that cannot be made", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({});
    const made = await resultOrError(context, "temp.dir", [], { prefix: "p-", suffix: "-s", parent: root });
    assert(typeof made === "string" && /\/p-[^/]+-s$/.test(made) && Deno.statSync(made).isDirectory, String(made));
    const result = await resultOrError(context, "temp.dir", [], { parent: `${root}/none` });
    assert(typeof result === "string" && result.startsWith("[Errno 2] No such file or directory: '"), String(result));
  });
});
