/** @module */
import { clearInterval, clearTimeout, setInterval, setTimeout, type Timer } from "#lib/os/timers.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { strictTest } from "#tests/support/strict.ts";

const TIMERS = new URL("../../lib/os/timers.ts", import.meta.url).href;

/** Runs a script in its own process. */
async function ran(body: string): Promise<string> {
  const file = Deno.makeTempFileSync({ suffix: ".ts" });
  Deno.writeTextFileSync(file, `import * as timers from ${JSON.stringify(TIMERS)};\n${body}`);
  try {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-check", file] })
      .output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  } finally {
    Deno.removeSync(file);
  }
}

strictTest("timers are called when they are due, in their order, and not when they were cleared", async () => {
  const random = (() => {
    let state = 7;
    return () => (state = state * 48_271 % 2_147_483_647) / 2_147_483_647;
  })();
  const called: { dueMs: number; atMs: number }[] = [];
  const cleared: Timer[] = [];
  const done = Promise.withResolvers<void>();
  let left = 0;
  for (let i = 0; i < 500; i++) {
    const ms = Math.floor(random() * 200);
    const timer: Timer = setTimeout(() => {
      called.push({ dueMs: timer.dueMs, atMs: performance.now() });
      if (--left === 0) done.resolve();
    }, ms);
    if (random() < 0.5) cleared.push(timer);
    else left++;
  }
  cleared.forEach(clearTimeout);
  await done.promise;
  assertEquals(called.length, 500 - cleared.length);
  assert(cleared.length > 100 && called.length > 100);
  for (const [i, { dueMs, atMs }] of called.entries()) {
    assert(atMs >= dueMs, `${dueMs - atMs} ms too early`);
    if (i > 0) assert(dueMs >= called[i - 1].dueMs, "out of order");
  }
});

strictTest("a shorter timer does not wait for a longer one, and the longer one is called as well", async () => {
  const called: string[] = [];
  await new Promise<void>((resolve) => {
    setTimeout(() => {
      called.push("longer");
      resolve();
    }, 60);
    setTimeout(() => called.push("shorter"), 5);
  });
  assertEquals(called, ["shorter", "longer"]);
});

strictTest("an interval is called again and again, until it is cleared, by its own callback too", async () => {
  let calls = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (++calls < 3) return;
      clearInterval(timer);
      setTimeout(resolve, 20);
    }, 5);
  });
  assertEquals(calls, 3);
});

strictTest("a timer is called also if the time of one that was cleared has passed meanwhile", async () => {
  const cleared = setTimeout(() => {}, 5);
  const later = setTimeout(() => {}, 20);
  clearTimeout(cleared);
  clearTimeout(later);
  // Unlike a timer of ours.
  await new Promise((resolve) => globalThis.setTimeout(resolve, 60));
  await new Promise<void>((resolve) => setTimeout(resolve, 1));
});

strictTest("a cleared timer, one that is over and none at all can be cleared", async () => {
  clearTimeout(undefined);
  const timer = setTimeout(() => {}, 1_000);
  clearTimeout(timer);
  clearTimeout(timer);
  const over = await new Promise<Timer>((resolve) => {
    const own: Timer = setTimeout(() => resolve(own), 1);
  });
  clearTimeout(over);
});

strictTest("the process lives as long as its timers, and no longer", async () => {
  assertEquals(await ran('timers.setTimeout(() => console.log("called"), 50);'), "called\n");
  // The test's time limit would kill it if it waited for the hour.
  assertEquals(
    await ran("timers.clearTimeout(timers.setTimeout(() => {}, 3_600_000)); console.log('ended');"),
    "ended\n",
  );
});

strictTest("a callback that throws is an uncaught error, and the others are still called", async () => {
  const out = await ran(`
    globalThis.addEventListener("error", (event) => (event.preventDefault(), console.log("error", event.error.message)));
    timers.setTimeout(() => { throw new Error("first"); }, 5);
    timers.setTimeout(() => console.log("second"), 5);`);
  assertEquals(out, "error first\nsecond\n");
});

strictTest("timers load nothing of Node's", async () => {
  // The effect of Node's timers: Deno's own global timers in the same process, for comparison.
  const out = await ran(`
    const heap = () => ((globalThis as { gc?: () => void }).gc?.(), Deno.memoryUsage().heapUsed);
    const before = heap();
    await new Promise<void>((resolve) => timers.setTimeout(resolve, 1));
    const ours = heap() - before;
    clearTimeout(setTimeout(() => {}, 1));
    console.log(ours < (heap() - before - ours) / 4);`);
  assertEquals(out, "true\n");
});
