/** @module */
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Thread, type ThreadOptions } from "#lib/runtime/thread.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { strictTest } from "#tests/support/strict.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

interface Init {
  readonly start?: "throw" | "hang";
  readonly survive?: boolean;
  readonly close?: "hang" | "tell";
}

function startThread(options: Partial<ThreadOptions<Init>> = {}): Thread<Init> {
  const url = new URL("../support/threads/thread_service.ts", import.meta.url);
  return new Thread<Init>({ name: "Test-0", url, init: {}, log: SILENT_LOGGER, ...options });
}

strictTest("a thread starts, logs, describes itself, answers and stops", async () => {
  const logged: string[] = [];
  const received: unknown[] = [];
  const thread = startThread({ log: recordingLogger(logged), onMessage: (message) => received.push(message) });
  await thread.ready;
  assertEquals(await thread.describe(), "doing what it is told");
  thread.post("nothing");
  await eventually(() => received.length > 0, { what: "a message" });
  assertEquals([received, logged], [["did nothing"], ["INFO: started"]]);
  await thread.stop();
  await thread.stop();
  assertEquals(await thread.describe(), "ended");
});

strictTest("a thread that cannot start says why, to its starter and to onDeath", async () => {
  const deaths: string[] = [];
  const cases: [Partial<ThreadOptions<Init>>, string][] = [
    [{ init: { start: "throw" } }, "cannot start"],
    [{ init: { start: "hang" }, startMs: 300 }, "did not start in time"],
    [{ url: new URL("./no_such_file.ts", import.meta.url) }, "Test-0"],
  ];
  for (const [options, reason] of cases) {
    const thread = startThread({ ...options, onDeath: (text) => deaths.push(text) });
    assertStringIncludes((await assertRejects(() => thread.ready, Error)).message, reason);
    await thread.stop();
  }
  assertEquals(deaths.length, cases.length);
});

for (const how of ["reject", "throw later", "fail"]) {
  strictTest(`a thread that ends with "${how}" is noticed once, and its descriptions are answered`, async () => {
    const deaths: string[] = [];
    const thread = startThread({ onDeath: (reason) => deaths.push(reason) });
    await thread.ready;
    thread.post(how);
    await eventually(() => deaths.length > 0, { what: "the thread's death" });
    assert(["dead", "ended"].includes(await thread.describe()));
    await thread.stop();
    assertEquals(deaths.length, 1);
  });
}

strictTest("surviveErrors() logs uncaught errors, and the thread continues", async () => {
  const logged: string[] = [];
  const thread = startThread({
    init: { survive: true },
    log: recordingLogger(logged),
    onDeath: (reason) => logged.push(`died: ${reason}`),
  });
  await thread.ready;
  for (const how of ["reject", "throw later"]) thread.post(how);
  await eventually(() => logged.length === 3, { what: "both errors in the log" });
  assertStringIncludes(logged[1] + logged[2], "nobody caught this");
  assertStringIncludes(logged[1] + logged[2], "nor this");
  assert(logged.slice(1).every((line) => line.startsWith("CRITICAL: An uncaught error")), logged.join("\n"));
  assertEquals(await thread.describe(), "doing what it is told");
  await thread.stop();
});

strictTest("a busy thread is reported as busy after a time limit", async () => {
  const thread = startThread();
  await thread.ready;
  thread.post("spin");
  assertEquals(await thread.describe(100), "busy: no answer in 100 ms");
  const start = performance.now();
  await thread.stop(new TimeBudget(200));
  assert(performance.now() - start < AT_ONCE_MS, "stop() waited for a thread that never answers");
});

for (
  const [how, end] of [["kill()", (thread: Thread<Init>) => thread.kill()], [
    "stop()",
    (thread: Thread<Init>) => thread.stop(new TimeBudget(50)),
  ]] as const
) {
  Deno.test(`${how} terminates a thread that does not end on request`, async () => {
    const thread = startThread({ init: { close: "hang" } });
    const { task } = thread;
    await thread.ready;
    if (Deno.build.os === "linux") assertEquals(task.alive(), true);
    await end(thread);
    await eventually(() => !task.alive(), { what: "the end of the thread" });
  });
}

strictTest("a thread gets the time limit for ending", async () => {
  const received: unknown[] = [];
  const thread = startThread({ init: { close: "tell" }, onMessage: (message) => received.push(message) });
  await thread.ready;
  await thread.stop(new TimeBudget(600_000));
  assert(received.length === 1 && Number(received[0]) > 1_000 && Number(received[0]) <= 600_000, String(received));
});

strictTest("a thread that is ended by force is named in the log; one that was still starting is not", async () => {
  for (const [init, expected] of [[{ close: "hang" }, 1], [{ start: "hang" }, 0], [{}, 0]] as const) {
    const logged: string[] = [];
    const thread = startThread({ init, log: recordingLogger(logged) });
    if (!("start" in init)) await thread.ready;
    await thread.stop(expected === 1 || "start" in init ? new TimeBudget(50) : undefined);
    const cuts = logged.filter((line) =>
      /^WARNING: Test-0 did not end within \d+ ms, and is ended by force$/.test(line)
    );
    assertEquals(cuts.length, expected, JSON.stringify([init, logged]));
  }
});

strictTest("a thread that is stopped while it starts is stopped", async () => {
  const deaths: string[] = [];
  const thread = startThread({ init: { start: "hang" }, onDeath: (reason) => deaths.push(reason) });
  await thread.stop(new TimeBudget(300));
  assertEquals(deaths, []);
});
