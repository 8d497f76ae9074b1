/** Runs of functions of runners and wheel modules. */

import { runRunner } from "#lib/client/runner.ts";
import { StoreError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("a run that cannot be stored is named in the log, and ends as any other", () =>
  withRunnerFixture(async ({ context, done }) => {
    const call = { kind: "runner", fun: "test.arg", args: ["x"], kwargs: map({}) } as const;
    const jobs = { ...context.jobs, prepare: () => Promise.reject(new StoreError("the disk is full", "jobs")) };
    const { end, retcode } = await runRunner(call, { ...context, jobs, showProgress: () => {} });
    assertEquals([end, retcode], ["done", 0]);
    assertEquals(done.map((line) => line.split(" {")[0]), [
      `fire salt/run/${context.jid}/new`,
      "error: Could not store job cache info: the disk is full. Job details for this run may be unavailable.",
      `fire salt/run/${context.jid}/ret`,
    ]);
  }));
