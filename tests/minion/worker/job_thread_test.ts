/** A thread of jobs that says what no thread of jobs may. */

import { NO_PYTHON_PLUGINS } from "#lib/python_bridge/loader/python_files.ts";
import { JobThread } from "#lib/minion/worker/job_thread.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("a thread that sends an invalid message is ended, and its death is told once", async () => {
  const deaths: string[] = [], messages: unknown[] = [];
  const thread = new JobThread({
    name: "Job-1",
    url: new URL("../../support/threads/junk_job_worker.ts", import.meta.url),
    init: {
      opts: pack({}),
      hostData: { grains: pack({}), pillar: pack({}) },
      permissions: { net: false },
      customModules: [],
      refusedModules: {},
      python: NO_PYTHON_PLUGINS,
    } as unknown as ConstructorParameters<typeof JobThread>[0]["init"],
    permissions: { read: true },
    log: SILENT_LOGGER,
    onDeath: (reason) => void deaths.push(reason),
    onMessage: (message) => void messages.push(message),
  });
  await eventually(() => deaths.length > 0, { what: "the death" });
  assertEquals(await thread.kill(), true);
  assertEquals([messages, deaths], [[{ kind: "begun" }], ["it sent an invalid message: a message of no known kind"]]);
});
