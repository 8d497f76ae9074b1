import type { Value, ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { batchState } from "#tests/support/fleet/batch_state.ts";
import { withRecordedJobs } from "#tests/support/fleet/recorded_jobs.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

const JID = "20250102030405000001";

Deno.test("batch.stop with kill of a batch that no minion runs yet kills nothing", () =>
  withRunnerFixture(async ({ call, context, done }) => {
    const state = batchState({ jid: JID });
    await context.jobs.prepare(JID);
    await context.jobs.batches.save(state);
    assertEquals(await call("batch.stop", [JID], { kill: true }), true);
    assertEquals(done, [`fire salt/batch/${JID}/stop {'jid': '${JID}', 'reason': 'stop'}`]);
  }));

Deno.test("a batch whose process has ended is shown as halted, is not active, and can be stopped for good", () =>
  withRecordedJobs(async ({ call, context, done }) => {
    const state = batchState({
      jid: "20250102030405000001",
      minions: ["db1", "web1", "web2"],
      pending: ["web2"],
      active: new Map([["web1", 1_000]]),
      done: new Map([["db1", 0]]),
      progressMs: 2_500,
      createdMs: 1_500,
    });
    const { batches } = context.jobs;
    await batches.save(state);
    assertEquals(await batches.read(state.jid), state);
    const shown = async () => {
      const summary = await call("batch.status", [state.jid]) as ValueMap;
      return ["completed", "active", "pending", "halted", "halted_reason"].map((name) => summary.get(name));
    };
    assertEquals(await shown(), [1, 1, 1, false, null]);
    assertEquals((await call("batch.list_active") as Value[]).length, 1);
    assertEquals(await call("batch.stop", [state.jid], { kill: true }), true);
    assertEquals(done.splice(0), [
      `fire salt/batch/${state.jid}/stop`,
      "saltutil.kill_job on ['web1'] (list) in undefined s",
    ]);

    // A pid without a process.
    await batches.save({ ...state, pid: 2 ** 22 + 1 });
    assertEquals(await shown(), [1, 1, 1, true, "its process ended"]);
    assertEquals(await call("batch.list_active"), []);
    assertEquals(await call("batch.stop", [state.jid]), true);
    assertEquals([await shown(), done], [[1, 1, 1, true, "stop"], []]);
    assertEquals([await call("batch.stop", [state.jid]), await batches.active()], [false, []]);
    assertEquals([await call("batch.status", ["../../etc"]), await call("batch.stop", ["x"])], [null, false]);
  }));
