/**
 * The parts of a batch job without a fleet: its run, its record, and its end while no master runs.
 * @module
 */

import { BackgroundParts } from "#lib/commands/programs/batch_parts.ts";
import { BatchRecord } from "#lib/commands/programs/batch_record.ts";
import { BatchRun } from "#lib/commands/programs/batch_run.ts";
import type { JobRequest } from "#lib/client/job.ts";
import type { Session } from "#lib/commands/programs/salt_session.ts";
import { StoreError } from "#lib/errors.ts";
import type { BatchState } from "#lib/jobs/store.ts";
import type { Outcome } from "#lib/protocol/outcome.ts";
import type { Answer } from "#lib/commands/report/answers.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { batchState } from "#tests/support/fleet/batch_state.ts";

function answer(id: string, outcome: Outcome = "returned"): Answer {
  return { id, return: true, retcode: outcome === "returned" ? 0 : 1, outcome };
}

const IDS = ["a", "b", "c"];
const STATE = batchState({ minions: IDS, pending: IDS, size: 2, driver: "cli", pid: undefined });

Deno.test("after a halt no further part starts, and later answers are ignored", async () => {
  const parts: string[][] = [];
  const gate = Promise.withResolvers<void>();
  const run = new BatchRun({
    ids: ["a", "b", "c"],
    size: 2,
    waitMs: 60_000,
    failhard: false,
    async *run(ids) {
      parts.push([...ids]);
      yield answer(ids[0]);
      await gate.promise;
      yield answer(ids[1]);
    },
  });
  const all = run.finish();
  await eventually(() => parts.length === 1, { what: "the first part" });
  run.halt("stop");
  run.halt("again");
  gate.resolve();
  // The pause after the first answer would last a minute: its timer ends with the batch.
  assertEquals([(await all).map(({ id }) => id), run.halted, parts], [["a"], "stop", [["a", "b"]]]);
});

Deno.test("with failhard no minion takes the place of one that failed, also when its part has ended", async () => {
  const parts: string[][] = [];
  const ended = Promise.withResolvers<void>();
  const run = new BatchRun({
    ids: ["a", "b"],
    size: 1,
    waitMs: 0,
    failhard: true,
    async *run(ids) {
      parts.push([...ids]);
      yield answer(ids[0], "not connected");
      ended.resolve();
    },
  });
  assertEquals((await run.finish()).map(({ id }) => id), ["a"]);
  await ended.promise;
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals([run.halted, parts], ["failhard", [["a"]]]);
});

Deno.test("after a part has thrown no further part starts, and later answers are ignored", async () => {
  const parts: string[][] = [], answered: string[] = [];
  const gate = Promise.withResolvers<void>(), ended = Promise.withResolvers<void>();
  const run = new BatchRun({
    ids: ["a", "b", "c", "d"],
    size: 2,
    waitMs: 0,
    failhard: false,
    answered: ({ id }) => void answered.push(id),
    async *run(ids) {
      parts.push([...ids]);
      if (ids.includes("c")) throw new StoreError("no room", "/var/cache");
      try {
        yield answer("a");
        await gate.promise;
        yield answer("b");
      } finally {
        ended.resolve();
      }
    },
  });
  await assertRejects(() => run.finish(), StoreError, "no room");
  gate.resolve();
  await ended.promise;
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals([parts, answered], [[["a", "b"], ["c"]], ["a"]]);
});

Deno.test("a batch without minions ends at once", async () => {
  const run = new BatchRun({ ids: [], size: 1, waitMs: 0, failhard: false, run: () => (async function* () {})() });
  assertEquals(await run.finish(), []);
});

Deno.test("the record contains the minions that answered and those that did not, and each change fires an event", async () => {
  const saved: BatchState[] = [];
  const events: unknown[] = [];
  const record = await BatchRecord.start(STATE, {
    store: {
      read: () => undefined,
      active: () => [],
      save: (state: BatchState) => void saved.push(structuredClone(state)),
    } as never,
    fire: (tag, data) => Promise.resolve(events.push([tag.split("/").at(-1), data.get("failed")])),
  });
  record.started(["a", "b"]);
  record.answered(answer("a"));
  record.answered(answer("b", "not connected"));
  await record.end("stop");
  const last = saved.at(-1);
  assertEquals([last?.pending, [...last?.done ?? []], [...last?.failed ?? []], last?.halted], [
    ["c"],
    [["a", 0]],
    [["b", "not connected"]],
    "stop",
  ]);
  assertEquals(events, [["new", undefined], ["halted", 1]]);
});

Deno.test("a user without write access to the master's files runs a batch without a record; any other error ends the batch", async () => {
  let tries = 0;
  const refusing = (cause: Error) =>
    ({
      save() {
        tries++;
        throw new StoreError("The batch is not kept", "/var/cache", { cause });
      },
    }) as never;
  const fire = () => Promise.resolve();
  const record = await BatchRecord.start(STATE, { store: refusing(new Deno.errors.PermissionDenied()), fire });
  await record.end(undefined);
  assertEquals(tries, 1);
  await assertRejects(() => BatchRecord.start(STATE, { store: refusing(new Error("disk full")), fire }), StoreError);
});

const JOB: JobRequest = { tgt: ["a1"], tgtType: "list", fun: "test.ping", arg: [] };

/** Runs `act` with the parts of a batch on a host where no master runs. */
async function withoutMaster(
  act: (
    parts: BackgroundParts,
    fixture: { readonly control: AbortController; readonly lines: string[] },
  ) => Promise<void>,
): Promise<void> {
  const sock_dir = Deno.makeTempDirSync({ prefix: "batch_" });
  try {
    const { log, lines } = memoryLog();
    const control = new AbortController();
    const session = { io: { signal: control.signal }, opts: { sock_dir }, log } as unknown as Session;
    await act(new BackgroundParts(session), { control, lines });
  } finally {
    Deno.removeSync(sock_dir, { recursive: true });
  }
}

Deno.test("a batch in the background that is stopped while no master runs ends without an error", () =>
  withoutMaster(async (parts, { control, lines }) => {
    const next = parts.answers(JOB, ["a1"]).next();
    await eventually(() => lines.length > 0, { what: "that no master runs" });
    control.abort();
    assertEquals([await next, lines.length], [{ done: true, value: undefined }, 1]);
  }));

Deno.test("a batch in the background that is stopped while it connects ends without an error, and does not wait", () =>
  withoutMaster(async (parts, { control, lines }) => {
    const next = parts.answers(JOB, ["a1"]).next();
    control.abort();
    assertEquals([await next, lines], [{ done: true, value: undefined }, []]);
  }));
