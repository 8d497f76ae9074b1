/**
 * The module `chain` on a minion that keeps none; chains that are kept: tests/operators/signed_jobs_test.ts.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("chain.verify says that there is no chain, and no record of a return", () =>
  withTemporaryDirectory(async (root) => {
    const none = "there is no chain: job_chain is off, or no job has come";
    const cases: readonly (readonly [kwargs: Readonly<Record<string, unknown>>, problems: readonly string[]])[] = [
      [{}, [none]],
      [{ n: 3, hash: "x" }, [none, "record 3 is not there with this hash"]],
    ];
    for (const [kwargs, problems] of cases) {
      const context = testContext({ opts: testOpts({ root_dir: root }) });
      const answer = await resultOrError(context, "chain.verify", [], kwargs);
      assertEquals(answer, map({ valid: false, records: 0, first: null, last: null, problems }));
      assertEquals(context.retcode, 1);
    }
  }));
