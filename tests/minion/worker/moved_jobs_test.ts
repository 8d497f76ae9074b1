/**
 * Jobs that ask for other permissions each time that they get a thread.
 * @module
 */

import { pack } from "#lib/minion/worker/job_protocol.ts";
import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a job that changed its thread twice and still asks for other permissions fails", async () => {
  await withTemporaryDirectory(async (root) => {
    const pool = new JobPool({
      opts: packOpts("minion", testOpts({ root_dir: root, cachedir: root })),
      hostData: { grains: pack(new Map()), pillar: pack(new Map()) },
      log: SILENT_LOGGER,
      threadUrl: new URL("../../support/threads/undecided_worker.ts", import.meta.url),
      answer: () => Promise.resolve(true),
    });
    try {
      let ended: ValueMap | undefined;
      void pool.run(map({ jid: "20260101000000000001", fun: "test.ping", arg: [] })).then((one) => ended = one);
      const outcome = await eventually(() => ended, { what: "the end of the job", withinMs: 5_000 });
      assertStringIncludes(
        str(outcome.get("return") ?? null),
        "No worker runs test.ping: each sends it to another one",
      );
      assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
    } finally {
      await pool.close();
    }
  });
});
