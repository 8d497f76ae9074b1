import { IdleWorkers } from "#lib/minion/worker/idle_workers.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

/** Idle workers represented by names, and the names of stopped workers. */
function workersFixture(times: { idleMs?: number; spareMs?: number } = {}) {
  const ended: string[] = [];
  const idle = new IdleWorkers<{ name: string; stop(): Promise<void> }>(times);
  const worker = (name: string) => ({ name, stop: () => Promise.resolve(void ended.push(name)) });
  const names = () => idle.all.map(({ name }) => name);
  return { idle, worker, names, ended, [Symbol.dispose]: () => void idle.clear() };
}

Deno.test("the worker that ran last is used first, a worker that has not run yet is used last", () => {
  using w = workersFixture();
  w.idle.add(w.worker("new"), "none");
  w.idle.put(w.worker("warm"), "none");
  assertEquals(w.names(), ["warm", "new"]);
  assertEquals(w.idle.take("none")?.name, "warm");
  assertEquals(w.idle.take("all"), undefined);
});

Deno.test("of many idle workers two are kept long: one without permissions, and the one with permissions that ran last", async () => {
  using w = workersFixture({ spareMs: 20 });
  for (const name of ["a", "b", "c"]) w.idle.put(w.worker(name), "none");
  assertEquals([w.names(), w.ended], [["c", "b", "a"], []]);
  await eventually(() => w.ended.length === 2, { what: "the end of the surplus workers" });
  assertEquals([w.names(), w.ended.toSorted()], [["c"], ["a", "b"]]);
  for (const [name, key] of [["cmd", "all"], ["other", "read"]]) w.idle.put(w.worker(name), key);
  await eventually(() => w.ended.length === 3, { what: "the end of one more" });
  assertEquals([w.names(), w.ended.at(-1)], [["other", "c"], "cmd"]);
});

Deno.test("a worker that was started because a job took long is ended a moment after the job", async () => {
  using w = workersFixture({ spareMs: 20 });
  w.idle.add(w.worker("spare"), "none");
  w.idle.put(w.worker("ran"), "none");
  await eventually(() => w.ended.length > 0, { what: "the end of the spare worker" });
  assertEquals([w.names(), w.ended], [["ran"], ["spare"]]);
});

Deno.test("at most four workers are idle: of two without permissions the one that ran last is stopped, else the last one with permissions", () => {
  using w = workersFixture();
  w.idle.put(w.worker("free"), "none");
  for (let i = 0; i < 3; i++) w.idle.put(w.worker(`all ${i}`), "all");
  assertEquals([w.names().length, w.ended], [4, []]);
  w.idle.put(w.worker("second"), "none");
  w.idle.put(w.worker("cmd"), "all");
  assertEquals([w.names(), w.ended], [
    ["cmd", "all 2", "all 1", "free"],
    ["second", "all 0"],
  ]);
});

Deno.test("workers that were taken or removed are no longer idle, and clear returns the others", () => {
  using w = workersFixture();
  const [a, b] = [w.worker("a"), w.worker("b")];
  w.idle.put(a, "all");
  w.idle.put(b, "none");
  w.idle.remove(a);
  assertEquals([w.idle.take("all"), w.idle.hasFree], [undefined, true]);
  assertEquals(w.idle.clear().map(({ name }) => name), ["b"]);
  assertEquals([w.idle.hasFree, w.ended], [false, []]);
});

Deno.test("one idle worker without permissions is kept", async () => {
  using w = workersFixture({ idleMs: 20, spareMs: 20 });
  w.idle.put(w.worker("first"), "none");
  w.idle.put(w.worker("second"), "none");
  await eventually(() => w.ended.length > 0, { what: "the end of one" });
  w.idle.put(w.worker("cmd"), "all");
  await eventually(() => w.ended.length > 1, { what: "the end of the one with permissions" });
  assertEquals([w.names(), w.ended], [["second"], ["first", "cmd"]]);
});
