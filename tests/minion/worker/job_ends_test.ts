/**
 * How jobs of a pool end otherwise than by themselves: by a signal, with their process, their thread or their minion.
 * @module
 */

import { statIfExists } from "#lib/os/atomic_file.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import {
  endedBy,
  hostData,
  inTime,
  isAlive,
  PoolFixture,
  startSleeper,
  untilBegun,
  untilEnded,
} from "./pool_fixture.ts";

Deno.test("a job that waits for a worker is listed, can be ended, and is interrupted by the minion's end", async () => {
  const fixture = new PoolFixture();
  assertEquals(await fixture.run("test.ping"), true);
  // More than there are idle workers at most.
  const [ended, left] = Array.from({ length: 8 }, () => fixture.start("test.sleep", 600)).slice(-2);
  assertEquals(fixture.pool.running().length, 8);
  assert(fixture.pool.signal(ended.jid, 15));
  assertEquals(await ended.outcome, endedBy(15));
  assertEquals(fixture.pool.running().map(({ jid }) => jid).includes(ended.jid), false);
  await fixture[Symbol.asyncDispose]();
  assertStringIncludes(String((await left.outcome).get("return")), "before it began this job");
});

Deno.test("a job that does not end is killed by signal 9, its process ends, and other jobs continue", async () => {
  await using fixture = new PoolFixture();
  const hung = fixture.start("own.forever");
  const pid = await untilBegun(fixture, hung.jid);
  const path = `${fixture.root}/go`;
  const waiting = fixture.start("own.wait", path);
  assertEquals(await fixture.run("test.ping"), true);
  assertEquals(fixture.pool.running().map(({ jid, fun }) => [jid, fun]), [
    [hung.jid, "own.forever"],
    [waiting.jid, "own.wait"],
  ]);
  assertEquals(fixture.pool.signal(hung.jid, 9), true);
  assertEquals(await inTime(hung.outcome, "the end of the job"), endedBy(9));
  assertEquals(isAlive(pid), false, "it goes on");
  assertEquals(fixture.pool.signal(hung.jid, 9), false);
  Deno.writeTextFileSync(path, "gone");
  assertEquals((await waiting.outcome).get("return"), "gone");
  assertEquals(await fixture.run("test.ping"), true);
});

Deno.test("a job that does not end gets a signal, and is killed after its time limit", async () => {
  await using fixture = new PoolFixture(20);
  const hung = fixture.start("own.forever");
  const pid = await untilBegun(fixture, hung.jid);
  assertEquals(fixture.pool.signal(hung.jid, 15), true);
  assertEquals(await inTime(hung.outcome, "the end of the job"), endedBy(15));
  assertEquals(isAlive(pid), false, "it goes on");
  assertEquals(await fixture.run("test.ping"), true);
});

Deno.test("a job can be killed before its worker has started", async () => {
  await using fixture = new PoolFixture();
  const jobs = [1, 2, 3].map(() => fixture.start("own.forever"));
  for (const { jid } of jobs) assertEquals(fixture.pool.signal(jid, 9), true);
  for (const { outcome } of jobs) assertEquals(await outcome, endedBy(9));
});

Deno.test("no process is signalled for a job that is not running", async () => {
  await using fixture = new PoolFixture();
  assertEquals(fixture.pool.signal("20260101000000000099", 15), false);
});

for (const signal of [15, 9, 2]) {
  Deno.test(`signal ${signal} ends the commands of a job with their children, and the job`, async () => {
    await using fixture = new PoolFixture();
    const { job, pids } = await startSleeper(fixture);
    assertEquals(fixture.pool.signal(job.jid, signal), true);
    const outcome = await inTime(job.outcome, "the end of the job");
    // Other signals kill the worker only as the last resort.
    assertEquals(outcome.get("return") === endedBy(signal).get("return"), signal === 9);
    await untilEnded(pids);
    assertEquals(await fixture.run("test.ping"), true);
  });
}

Deno.test("SIGTERM ends a job that sleeps without a command", async () => {
  await using fixture = new PoolFixture();
  const job = fixture.start("test.sleep", 60);
  // The job must have begun to receive messages; before that the message is queued.
  fixture.pool.signal(job.jid, 15);
  const outcome = await inTime(job.outcome, "the end of the job");
  assertEquals([outcome.get("success"), outcome.get("return") === endedBy(15).get("return")], [false, false]);
});

const DEATHS = [["own.die", "out of the blue"], ["own.reject", "nobody watches"], [
  "own.leave",
  "Deno.exit(3)",
]] as const;
for (const [fun, says] of DEATHS) {
  Deno.test(`a job whose worker dies (${fun}) has that as its outcome, and the next one runs`, async () => {
    await using fixture = new PoolFixture();
    const outcome = await inTime(fixture.start(fun).outcome, "the outcome");
    assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
    assertStringIncludes(String(outcome.get("return")), says);
    assertEquals(await fixture.run("test.ping"), true);
    assertEquals(fixture.pool.size, 0);
  });
}

Deno.test("the commands of a job end when the process of its custom module dies", async () => {
  await using fixture = new PoolFixture();
  const path = `${fixture.root}/pid`;
  fixture.write(
    "own",
    `export const dying = { permissions: "all", async run(_bound, context) {
      void context.call("cmd.run", ["echo $$ > ${path}; exec sleep 600"], new Map([["python_shell", true]]));
      while (!(await Deno.readTextFile("${path}").catch(() => "")).endsWith("\\n")) await new Promise((r) => setTimeout(r, 5));
      setTimeout(() => { throw new Error("out of the blue"); });
      await new Promise(() => {});
    } };`,
  );
  await fixture.pool.reload();
  const outcome = await inTime(fixture.start("own.dying").outcome, "the outcome");
  assertStringIncludes(String(outcome.get("return")), "out of the blue");
  await untilEnded([Number(Deno.readTextFileSync(path))]);
});

Deno.test("the function of a custom module ends when the thread dies whose job called it", async () => {
  await using fixture = new PoolFixture(WITHIN_MS, new URL("../../support/threads/calling_worker.ts", import.meta.url));
  const { jid, outcome } = fixture.start("test.cross_test", "own.forever");
  await eventually(
    async () => (await fixture.pool.describe()).some((line) => line.endsWith(`running own.forever for job ${jid}`)),
    { what: "the called function" },
  );
  fixture.pool.setHostData(hostData({}));
  assertStringIncludes(String((await inTime(outcome, "the outcome")).get("return")), "out of the blue");
  await eventually(async () => !(await fixture.pool.describe()).some((line) => line.includes("own.forever")), {
    what: "the end of what was called",
  });
});

Deno.test("close terminates jobs and their commands, also unwilling ones, and their outcome reports that", async () => {
  await using fixture = new PoolFixture();
  const hung = fixture.start("own.forever");
  const pid = await untilBegun(fixture, hung.jid);
  const { job, pids } = await startSleeper(fixture, "trap '' TERM; sleep 600");
  await fixture.pool.close();
  for (const { outcome } of [hung, job]) {
    assertEquals((await outcome).get("return"), "The minion ended while it ran this job");
  }
  assertEquals(isAlive(pid), false, "the job that hangs goes on");
  await untilEnded(pids);
  assertEquals(await fixture.run("test.ping"), "The minion ended before it began this job");
});

Deno.test("a job that is killed before its worker has its permissions never starts", async () => {
  await using fixture = new PoolFixture();
  const path = `${fixture.root}/begun`;
  // The function's declaration is not known yet: the first worker, which has no permissions, has to report it.
  const { jid, outcome } = fixture.start("cmd.run", `touch ${path}`);
  assertEquals(fixture.pool.signal(jid, 15), true);
  assertEquals(await inTime(outcome, "the end of the job"), endedBy(15));
  assertEquals(fixture.pool.size, 0);
  assertEquals(await fixture.run("test.ping"), true);
  assertEquals(statIfExists(path), undefined, "the command was run all the same");
});

Deno.test("a thread whose job is killed while it waits ends; for one that never waits, the outcome says that it continues", async () => {
  await using fixture = new PoolFixture(WITHIN_MS, new URL("../../support/threads/looping_worker.ts", import.meta.url));
  const waiting = fixture.start("wait");
  const spinning = fixture.start("spin", 15_000);
  // A thread that is still starting does not answer either, so all others must answer.
  await eventually(async () => {
    const busy = (await fixture.pool.describe()).filter((line) => line.includes("busy: no answer"));
    return busy.length === 1;
  }, { what: "the thread that never waits" });
  for (const { jid } of [waiting, spinning]) assertEquals(fixture.pool.signal(jid, 9), true);
  assertEquals((await waiting.outcome).get("return"), "The job was ended by signal 9");
  const result = (await spinning.outcome).get("return");
  assertEquals(
    result,
    "The job was ended by signal 9, and its thread continues: it uses a processor until the minion is restarted",
  );
  assert(fixture.lines.some((line) => line.startsWith(`CRITICAL Job ${spinning.jid}: `) && line.includes("continues")));
});
