/** @module */
import { type Answering, answerQuestions, askOnBus } from "#lib/bus/ask.ts";
import { fireEvent } from "#lib/bus/fire.ts";
import { type BusPaths, minionBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { CommandError, NoMinionError, RequestTimeoutError } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, str } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A bus on which questions are answered by the name in them: "slow" late, "broken" not, "quiet" without an event. */
async function withAnswers(run: (paths: BusPaths, reports: string[]) => Promise<void>): Promise<void> {
  const dir = Deno.makeTempDirSync({ prefix: "ask_" });
  const paths = minionBus({ sock_dir: dir, id: "m1", hash_type: "sha256" });
  const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
  const events = await EventSubscriber.connect(paths.pub, ["manage_test"]);
  const reports: string[] = [];
  const answering: Answering = {
    tag: "manage_test",
    failed: () => "/test/done",
    report: (text) => reports.push(text),
    async answer(question) {
      const name = str(question.get("name") ?? null);
      if (name === "quiet") return undefined;
      if (name === "broken") throw new TypeError("the file is broken");
      if (name === "slow") await sleep(300);
      return { tag: "/test/done", data: map({ complete: true, name }) };
    },
  };
  const answered = answerQuestions(events, paths, answering);
  try {
    await run(paths, reports);
  } finally {
    events.close();
    await answered;
    await bus.close();
    Deno.removeSync(dir, { recursive: true });
  }
}

const question = (name: string, waitS?: number) => ({
  tag: "manage_test",
  data: map({ name }),
  answerTag: "/test/done",
  waitS,
});

Deno.test("each question gets its own answer, also when several programs ask at once", async () => {
  await withAnswers(async (paths) => {
    const names = ["slow", "a", "b", "c"];
    const answers = await Promise.all(names.map((name) => askOnBus(paths, question(name))));
    assertEquals(answers.map((answer) => answer.get("name")), names);
  });
});

Deno.test("a question that failed has the reason as its error, and the next one is answered", async () => {
  await withAnswers(async (paths, reports) => {
    await assertRejects(() => askOnBus(paths, question("broken")), CommandError, "the file is broken");
    assertEquals((await askOnBus(paths, question("a"))).get("name"), "a");
    assertEquals(reports, ["The event manage_test failed: the file is broken"]);
  });
});

Deno.test("a question that nobody answers ends after its time", async () => {
  await withAnswers(async (paths) => {
    await assertRejects(() => askOnBus(paths, question("quiet", 0.3)), RequestTimeoutError, "manage_test");
    const other = { ...question("a", 0.3), answerTag: "/test/done/not" };
    await assertRejects(() => askOnBus(paths, other), RequestTimeoutError);
  });
});

Deno.test("a question without a number, as Python's programs ask, has an answer without one", async () => {
  await withAnswers(async (paths) => {
    using events = await EventSubscriber.connect(paths.pub, ["/test/done"]);
    await fireEvent(paths, "manage_test", map({ name: "a" }));
    const answer = await events.next(30_000);
    assertEquals([...answer?.data.keys() ?? []].sort(), ["_stamp", "complete", "name"]);
  });
});

/** Runs `act` while each look at the clock finds it ten seconds later: every wait is over at its first look. */
async function withoutWaits(act: () => Promise<void>): Promise<void> {
  let nowMs = performance.now();
  await withReplaced(performance, { name: "now", by: () => nowMs += 10_000 }, act);
}

Deno.test("a socket that takes connections and says nothing is no minion", () =>
  withTemporaryDirectory(async (dir) => {
    const paths = minionBus({ sock_dir: dir, id: "m1", hash_type: "sha256" });
    const listener = Deno.listen({ transport: "unix", path: paths.pub });
    const held: Deno.UnixConn[] = [];
    const accepting = (async () => {
      for await (const connection of listener) held.push(connection);
    })();
    await withoutWaits(async () => {
      await assertRejects(() => askOnBus(paths, question("a")), NoMinionError, "nobody answers manage_test");
    });
    listener.close();
    await accepting;
    for (const connection of held) connection.close();
  }));

Deno.test("without a minion a question is refused at once", async () => {
  const paths = minionBus({ sock_dir: "/nonexistent", id: "m1", hash_type: "sha256" });
  await assertRejects(() => askOnBus(paths, question("a")), NoMinionError, "No minion is running");
});
