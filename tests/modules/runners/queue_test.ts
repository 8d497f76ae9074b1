import { DatabaseSync } from "node:sqlite";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { repr } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

const CONFIG = "sqlite_queue_dir: {root}/queues\nrunner_queue: {queue: runners, backend: sqlite}\n";

Deno.test("queue.insert, list_items, list_length, list_queues, delete and pop keep a queue of texts", () =>
  withRunnerFixture(async ({ call }) => {
    assertEquals(await call("queue.list_queues"), []);
    assertEquals(await call("queue.insert", ["web-ids", "b'1"]), true);
    assertEquals(await call("queue.insert", ["web-ids", ["a", "c", 4]]), true);
    assertEquals(await call("queue.list_items", ["web-ids"]), ["b'1", "a", "c", "4"]);
    assertEquals(await call("queue.list_length", ["web-ids"]), 4);
    assertEquals(await call("queue.list_queues"), ["web-ids"]);
    const there = "this queue. sqlite error: UNIQUE constraint failed: web-ids.name";
    assertEquals(await call("queue.insert", ["web-ids", "a"]), `Item already exists in ${there}`);
    assertEquals(
      await call("queue.insert", ["web-ids", ["z", "a"]]),
      `One or more items already exists in ${there}`,
    );
    assertEquals(await call("queue.delete", ["web-ids", ["z", "none"]]), true);
    assertEquals(await call("queue.delete", ["web-ids", "b'1"]), true);
    assertEquals(await call("queue.pop", ["web-ids"]), ["a"]);
    assertEquals(await call("queue.pop", ["web-ids", "1"]), ["c"]);
    assertEquals(await call("queue.pop", ["web-ids", "all"]), ["4"]);
    assertEquals(await call("queue.list_length", ["web-ids"]), 0);
  }, CONFIG));

Deno.test("queue refuses quantities, backends and names that there are not", () =>
  withRunnerFixture(async ({ call, done, root }) => {
    const quantity = `Quantity must be an integer or "all".\nError: "invalid literal for int() with base 10: 'x'".`;
    await assertRejects(() => call("queue.pop", ["q", "x"]), InvocationError, quantity);
    assertEquals(await call("queue.process_queue", ["q", "x"]), false);
    assertEquals(done.filter((line) => !line.startsWith("fire")), [repr(new Map([["errors", quantity]]))]);
    await assertRejects(
      () => call("queue.insert", ["q", "a", "redis"]),
      InvocationError,
      'Function "redis.insert" is not available',
    );
    for (const name of ["../q", "a/b", ".q", "", "q\n"]) {
      await assertRejects(() => call("queue.insert", [name, "a"]), InvocationError, "Invalid name of a queue");
    }
    assertEquals([...Deno.readDirSync(root)].map(({ name }) => name).includes("q.db"), false);
  }, CONFIG));

Deno.test("queue.process_queue fires the event of the queue with what it takes", () =>
  withRunnerFixture(async ({ call, done }) => {
    await call("queue.insert", ["ids", ["a", "b", "c"]]);
    const data = "{'items': ['a', 'b'], 'backend': 'sqlite', 'queue': 'ids'}";
    assertEquals(repr(await call("queue.process_queue", ["ids", 2])), data);
    assertEquals(done, [`fire salt/queue/ids/process ${data}`]);
    assertEquals(await call("queue.list_items", ["ids"]), ["c"]);
  }, CONFIG));

Deno.test("queue.insert_runner keeps runners in Salt's form, and queue.process_runner runs them", () =>
  withRunnerFixture(async ({ call, done }) => {
    assertEquals(await call("queue.insert_runner", ["event.send", "my/tag"], { kwargs: { data: { a: 1 } } }), true);
    assertEquals(
      await call("queue.list_items", ["runners"]),
      ["{'fun': 'event.send', 'args': ['my/tag'], 'kwargs': {'data': {'a': 1}}}"],
    );
    assertEquals(await call("queue.process_runner"), null);
    assert(done.includes("fire my/tag {'a': 1}"), done.join("\n"));
  }, CONFIG));

Deno.test("queue.process_runner names the runners that fail, and runs those after them", () =>
  withRunnerFixture(async ({ call, done }) => {
    await call("queue.insert", ["runners", "no job"]);
    await call("queue.insert_runner", ["no.such"], { args: "a,b" });
    await call("queue.insert_runner", ["error.error"], { kwargs: { name: "Exception", message: "wrong" } });
    await call("queue.insert_runner", ["event.send", "my/tag"], { kwargs: { data: { text: "it's \"so\"', '" } } });
    const failed = await assertRejects(() => call("queue.process_runner", ["all"]), CommandError);
    const [first, second, third, ...more] = failed.message.split("\n");
    assertEquals(first, "It is no runner with its arguments: 'no job'");
    assertEquals(second, "'no.such' is not available: {'fun': 'no.such', 'args': ['a', 'b'], 'kwargs': {}}");
    assertStringIncludes(third, "'fun': 'error.error'");
    assertEquals(more, []);
    const sent = repr(new Map([["text", "it's \"so\"', '"]]));
    assert(done.includes(`fire my/tag ${sent}`), done.join("\n"));
    assertEquals(await call("queue.list_items", ["runners"]), []);
  }, CONFIG));

Deno.test("queue.insert_runner needs the name of a queue, and a file of a queue must be one", () =>
  withRunnerFixture(async ({ call, root }) => {
    const unnamed = "No queue is named, and runner_queue has none";
    await assertRejects(
      () => call("queue.insert_runner", ["test.echo"], { backend: "sqlite" }),
      InvocationError,
      unnamed,
    );
    Deno.mkdirSync(`${root}/queues`, { recursive: true });
    Deno.writeTextFileSync(`${root}/queues/broken.db`, "no database ".repeat(100));
    await assertRejects(() => call("queue.list_items", ["broken"]), CommandError, `${root}/queues/broken.db: `);
  }, "sqlite_queue_dir: {root}/queues\n"));

Deno.test("queue.insert_runner has Salt's usual backend, which is not here", () =>
  withRunnerFixture(async ({ call }) => {
    await assertRejects(
      () => call("queue.insert_runner", ["test.echo"], { queue: "q" }),
      InvocationError,
      'Function "pgjsonb.insert" is not available',
    );
  }));

Deno.test("queue.insert does not take another error of the database for an item that is there", () =>
  withRunnerFixture(async ({ call, root }) => {
    await call("queue.insert", ["ids", "a"]);
    using database = new DatabaseSync(`${root}/queues/ids.db`);
    database.exec("CREATE TRIGGER full BEFORE INSERT ON ids BEGIN SELECT RAISE(ABORT, 'no room'); END");
    await assertRejects(() => call("queue.insert", ["ids", "b"]), Error, "no room");
    assertEquals(await call("queue.list_items", ["ids"]), ["a"]);
  }, CONFIG));
