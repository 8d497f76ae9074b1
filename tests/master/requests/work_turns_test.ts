import { WorkTurns } from "#lib/master/requests/work_turns.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const LARGE = 1_000_000;

/** The turns of one of five threads on two processors: a fifth of it for each minion, and 400 ms at once. */
function turnsOf() {
  const clock = { nowMs: 1_000 };
  const turns = new WorkTurns({ threads: 5, processors: 2, now: () => clock.nowMs });
  /** A request that takes so long, if it need not wait; gives how long it waits. */
  const request = (id: string, ms: number, bytes = LARGE) => {
    const waitMs = turns.begin(id, bytes);
    clock.nowMs += waitMs === 0 ? ms : 0;
    turns.spent(ms);
    return Math.round(waitMs);
  };
  return { clock, request };
}

Deno.test("costly requests of a minion pass at once for a while, then each waits until a fifth of the thread has paid for it", () => {
  const { clock, request } = turnsOf();
  assertEquals([1, 2, 3, 4].map(() => request("hostile", 100)), [0, 0, 0, 0]);
  // 500 ms were used, of which 80 are paid; the next is counted as those before it, before it is done.
  assertEquals([request("hostile", 100), request("hostile", 100)], [0, 100]);
  assertEquals([request("hostile", 100), request("hostile", 100), request("hostile", 100)], [600, 1_100, 1_600]);
  for (let n = 0; n < 100; n++) assert(request("hostile", 100) <= 4_000);
  assertEquals(request("honest", 100), 0);
  clock.nowMs += 10_000;
  assertEquals(request("hostile", 100), 0);
});

Deno.test("a minion that sends one costly request after the other, to all threads in turn, never waits", () => {
  const clock = { nowMs: 1_000 };
  const threads = Array.from({ length: 5 }, () => new WorkTurns({ threads: 5, processors: 2, now: () => clock.nowMs }));
  for (let n = 0; n < 1_000; n++) {
    const turns = threads[n % 5];
    assertEquals(turns.begin("m1", LARGE), 0);
    clock.nowMs += 100;
    turns.spent(100);
  }
});

Deno.test("usual requests are never counted, however many there are, also where some take longer on a busy machine", () => {
  const { request } = turnsOf();
  for (let n = 0; n < 10_000; n++) assertEquals(request("busy", n % 10 === 0 ? 19 : 0.4, 900), 0);
  for (let n = 0; n < 10_000; n++) assertEquals(request("busy", 1.5, LARGE), 0);
});

Deno.test("a small request that takes long is counted, as a large one that takes less", () => {
  for (const [ms, bytes] of [[25, 900], [5, LARGE]]) {
    const { request } = turnsOf();
    let sum = 0;
    for (let n = 0; n < 400; n++) sum += request("hostile", ms, bytes);
    assert(sum > 0, `${ms} ms of ${bytes} bytes`);
  }
});

Deno.test("what was begun and has waited is not counted again", () => {
  const clock = { nowMs: 1_000 };
  const turns = new WorkTurns({ threads: 1, processors: 4, now: () => clock.nowMs });
  turns.begin("m1", LARGE);
  turns.spent(2_500);
  assertEquals(turns.begin("m1", LARGE), 500);
  turns.spent(1_000);
  turns.spent(1_000);
  clock.nowMs += 3_000;
  // 2,500 twice, of which 3,000 are paid and 2,000 may be used at once.
  assertEquals(turns.begin("m1", LARGE), 0);
});
