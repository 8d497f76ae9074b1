import { PacedWork } from "#lib/runtime/paced_work.ts";
import { sleep } from "#lib/os/sleep.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("what is asked for at once is done once, and again if it is asked for meanwhile", async () => {
  let done = 0;
  const begun = Promise.withResolvers<void>(), goOn = Promise.withResolvers<void>();
  const work = new PacedWork(async () => {
    done++;
    begun.resolve();
    await goOn.promise;
  });
  for (let i = 0; i < 10; i++) work.ask();
  assertEquals(done, 0);
  await begun.promise;
  for (let i = 0; i < 10; i++) work.ask();
  goOn.resolve();
  await eventually(() => done === 2, { what: "the second time" });
  await sleep(20);
  assertEquals(done, 2);
  await work.close();
});

Deno.test("work that takes long rests, however often it is asked for", async () => {
  const times: (readonly [begunMs: number, endMs: number])[] = [];
  const work = new PacedWork(() => {
    const begunMs = performance.now();
    while (performance.now() - begunMs < 30) { /* it computes */ }
    times.push([begunMs, performance.now()]);
  });
  const asking = setInterval(() => work.ask(), 1);
  await eventually(() => times.length === 3, { what: "three times" });
  clearInterval(asking);
  await work.close();
  for (const [i, [begunMs]] of times.entries()) {
    if (i > 0) assert(begunMs - times[i - 1][1] >= 9 * 30 - 1, `it rested ${begunMs - times[i - 1][1]} ms`);
  }
});

Deno.test("after its end it does nothing, and the end waits for what is being done", async () => {
  let done = 0;
  const work = new PacedWork(async () => {
    await sleep(20);
    done++;
  });
  work.ask();
  await sleep(10);
  work.ask();
  await work.close();
  assertEquals(done, 1);
  work.ask();
  await sleep(40);
  assertEquals(done, 1);
});

Deno.test("work that has waited for something does not rest as long as that", async () => {
  let done = 0;
  const work = new PacedWork(async () => {
    if (++done === 1) await sleep(1_000);
  });
  work.ask();
  await eventually(() => done === 1, { what: "the first time" });
  work.ask();
  await eventually(() => done === 2, { what: "the second time", withinMs: 8_000 });
  await work.close();
});

Deno.test("work that asks for itself is done once more, and never twice at the same time", async () => {
  let running = 0, most = 0, done = 0;
  const work = new PacedWork(async () => {
    most = Math.max(most, ++running);
    if (done === 0) work.ask();
    await sleep(30);
    running--;
    done++;
  });
  work.ask();
  await eventually(() => done === 2, { what: "the second time" });
  await work.close();
  assertEquals([most, done], [1, 2]);
});
