import { IdleMemory } from "#lib/runtime/idle_memory.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { strictTest } from "#tests/support/strict.ts";

const MUCH = 1 << 20;

strictTest(
  "a thread that worked gives memory back once, when it has been at rest for a second, and again after new work",
  async () => {
    let given = 0;
    const memory = new IdleMemory(() => given++);
    for (const times of [1, 2]) {
      const lastMs = performance.now();
      memory.worked(MUCH);
      await eventually(() => given === times, { what: "the memory to be given back" });
      const restMs = performance.now() - lastMs;
      assert(restMs >= 1_000, `after only ${restMs} ms of rest`);
    }
    memory.reset();
  },
);

strictTest("as long as messages come, nothing is given back", async () => {
  let given = 0;
  const memory = new IdleMemory(() => given++);
  let startMs = performance.now();
  let lastMs = startMs;
  await eventually(() => {
    const nowMs = performance.now();
    // A machine that stalls for a second looks idle, so the measurement starts again after it.
    if (nowMs - lastMs > 700) startMs = nowMs;
    if (nowMs - startMs < 700) given = 0;
    lastMs = nowMs;
    memory.worked(MUCH);
    return nowMs - startMs > 3_000;
  }, { what: "seconds of work without a pause" });
  assertEquals(given, 0);
  memory.reset();
});

strictTest("a few small messages trigger no collection, and reset cancels a pending one", async () => {
  let given = 0;
  const [small, reset, much] = [1, 2, 3].map(() => new IdleMemory(() => given++));
  for (let i = 0; i < 80; i++) small.worked(200);
  reset.worked(MUCH);
  reset.reset();
  much.worked(MUCH); // later than the due time of the others
  await eventually(() => given > 0, { what: "the memory of the third" });
  assertEquals(given, 1);
  small.reset();
});

strictTest("work during the release of memory is counted, and the next idle time releases memory again", async () => {
  let given = 0;
  const memory: IdleMemory = new IdleMemory(() => {
    given++;
  });
  const collected = globalThis as { gc?: (options: unknown) => void };
  const { gc } = collected;
  // The garbage collection starts the release of memory: work after that is new work.
  collected.gc = () => void setTimeout(() => memory.worked(MUCH), 50);
  try {
    memory.worked(MUCH);
    await eventually(() => given === 1, { what: "the first release of memory" });
    collected.gc = () => {};
    await eventually(() => given === 2, { what: "the memory of the later work to be given back" });
  } finally {
    if (gc === undefined) delete collected.gc;
    else collected.gc = gc;
    memory.reset();
  }
});

strictTest("a little work gives memory back too, after a longer rest", async () => {
  let given = 0;
  const memory = new IdleMemory(() => given++);
  const lastMs = performance.now();
  memory.worked(1 << 15);
  await eventually(() => given === 1, { what: "the memory to be given back" });
  const restMs = performance.now() - lastMs;
  assert(restMs >= 5_000, `after only ${restMs} ms of rest`);
  memory.reset();
});
