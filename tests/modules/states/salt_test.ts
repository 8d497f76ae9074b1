import { masterBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { scriptedState } from "#tests/support/calls/state_call.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("states", "salt");

Deno.test("the arguments of a call are an event in an orchestration of the master, and in no run of a minion", () =>
  withTemporaryDirectory(async (sock_dir) => {
    const bus = await BusPump.open(masterBus(sock_dir), { log: SILENT_LOGGER });
    try {
      using events = await EventSubscriber.connect(masterBus(sock_dir).pub, ["salt/run/"]);
      for (const [role, name] of [["minion", "jobs.active"], ["master", "jobs.list_jobs"]] as const) {
        const opts = testOpts({ sock_dir });
        opts.extra.set("__role", role);
        const answers = { "saltutil.runner": map({ jid: "1", return: true }) };
        const given = { name, limit: 3 };
        const { result, comment } = await scriptedState("salt.runner", given, answers, { job: testContext({ opts }) });
        assertEquals([result, comment], [true, `Runner function '${name}' executed.`]);
      }
      const event = await events.next(2_000);
      const { tag, data } = event ?? { tag: "", data: map({}) };
      assertEquals(tag, "salt/run/20260101000000000000/args");
      assertEquals(
        new Map([...data].filter(([key]) => key !== "_stamp")),
        map({
          type: "runner",
          name: "jobs.list_jobs",
          args: [],
          kwargs: { limit: 3 },
        }),
      );
      assertEquals(await events.next(0), undefined);
    } finally {
      await bus.close();
    }
  }));
