/**
 * A master's schedule: its runners run, and their returns are events of its bus.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { MasterSchedule } from "#lib/master/functions/master_schedule.ts";
import { type FunctionMessage, packFunctionOutcome, unpackFunctionJob } from "#lib/master/functions/messages.ts";
import { map, toValue, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

fleetTest("a master runs the runners of its schedule, and a broken entry stops no other", {
  master: {
    schedule: { bad: "text", echo: { function: "test.arg", args: [1], kwargs: { k: "v" }, seconds: 1 } },
  },
}, async (fleet) => {
  using events = await fleet.listen("__schedule_return");
  const event = await events.next(WITHIN_MS);
  assert(event !== undefined);
  const { data } = event;
  assertEquals([data.get("schedule"), data.get("fun"), data.get("jid"), data.get("success")], [
    "echo",
    "test.arg",
    "req",
    true,
  ]);
  assertEquals([data.get("fun_args"), data.get("return")], [
    [1, map({ k: "v" })],
    map({ args: [1], kwargs: { k: "v" } }),
  ]);
});

/** A schedule whose jobs are only taken: the callbacks of the jobs that have begun, by their functions. */
async function withSchedule(
  schedule: unknown,
  act: (seen: {
    readonly begun: Map<string, ((message: Omit<FunctionMessage, "key">) => void)[]>;
    readonly fired: ValueMap[];
    readonly logged: readonly string[];
    isRunHere: boolean;
  }) => Promise<void>,
  { isRunHere = true }: { readonly isRunHere?: boolean } = {},
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const { opts } = loadMasterConfig({
      configDir: `${root}/etc`,
      overrides: { root_dir: root, id: "m", schedule: toValue(schedule) },
    });
    const begun = new Map<string, ((message: Omit<FunctionMessage, "key">) => void)[]>();
    const fired: ValueMap[] = [], logged: string[] = [];
    const seen = { begun, fired, logged, isRunHere };
    const running = new MasterSchedule({
      opts,
      log: recordingLogger(logged),
      functions: {
        take: ({ key, job }, reply) => {
          const { fun } = unpackFunctionJob(job);
          begun.set(fun, [...begun.get(fun) ?? [], (message) => reply({ key, ...message })]);
          reply({ key, state: "taken", outcome: new Uint8Array() });
        },
      },
      isRunHere: () => seen.isRunHere,
      fire: (_tag, data) => Promise.resolve(void fired.push(data)),
    });
    running.start();
    try {
      await act(seen);
    } finally {
      running.close();
    }
  });
}

const ONCE_A_SECOND = { seconds: 1, run_on_start: true };

Deno.test("the return of a scheduled runner says whether it succeeded, failed or was lost", () =>
  withSchedule({
    good: { function: "test.good", ...ONCE_A_SECOND },
    failed: { function: "test.failed", ...ONCE_A_SECOND },
    lost: { function: "test.lost", ...ONCE_A_SECOND, metadata: { why: "x" } },
    silent: { function: "test.silent", ...ONCE_A_SECOND, return_job: false },
  }, async ({ begun, fired }) => {
    await eventually(() => begun.size === 4, { what: "four jobs" });
    assertEquals(fired, [], "a job that has begun is no return");
    const end = (fun: string, success: boolean) =>
      begun.get(fun)?.[0]({ state: "ended", outcome: packFunctionOutcome({ return: fun, success }) });
    end("test.silent", true);
    end("test.good", true);
    end("test.failed", false);
    begun.get("test.lost")?.[0]({ state: "lost", outcome: new Uint8Array() });
    assertEquals(
      fired.map((data) => ["schedule", "return", "retcode", "success", "lost"].map((name) => data.get(name))),
      [
        ["good", "test.good", 0, true, undefined],
        ["failed", "test.failed", 254, false, undefined],
        ["lost", "The runner test.lost did not run: lost", 254, false, true],
      ],
    );
    assertEquals(fired.map((data) => data.get("metadata")), [undefined, undefined, map({ why: "x" })]);
  }));

Deno.test("jobs of another master of the cluster are not begun here", () =>
  withSchedule({ here: { function: "test.here", seconds: 1 } }, async (seen) => {
    const elsewhere = () => seen.logged.filter((line) => line.includes("run by another master of the cluster"));
    await eventually(() => elsewhere().length === 2, { what: "two turns" });
    assertEquals(seen.begun.size, 0);
    seen.isRunHere = true;
    await eventually(() => seen.begun.size === 1, { what: "the job begins" });
  }, { isRunHere: false }));

Deno.test("a job with maxrunning begins again when the one before it has ended", () =>
  withSchedule({
    one: { function: "test.one", seconds: 1, maxrunning: 1 },
    two: { function: "test.two", seconds: 1, maxrunning: 2 },
    free: { function: "test.free", seconds: 1, maxrunning: 10 },
  }, async ({ begun }) => {
    await eventually(() => (begun.get("test.free")?.length ?? 0) >= 3, { what: "three rounds" });
    const counts = () => ["test.one", "test.two"].map((fun) => begun.get(fun)?.length);
    assertEquals(counts(), [1, 2]);
    const rounds = begun.get("test.free")?.length ?? 0;
    for (const fun of ["test.one", "test.two"]) begun.get(fun)?.[0]({ state: "lost", outcome: new Uint8Array() });
    await eventually(() => (begun.get("test.free")?.length ?? 0) >= rounds + 2, { what: "two more rounds" });
    assertEquals(counts(), [2, 3]);
  }));
