/** @module */
import { backoff } from "#lib/minion/masters/backoff.ts";
import { Random } from "#tests/fuzz/mutate.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const OPTIONS = { leastMs: 1_000, mostMs: 10_000 };
const ATTEMPTS = [0, 1, 2, 3, 4, 5, 50];
const WINDOWS = [1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000];

Deno.test("the window doubles up to recon_max; without randomization the delay equals the window", () => {
  const { pause } = backoff({ ...OPTIONS, randomize: false });
  assertEquals(ATTEMPTS.map(pause), WINDOWS);
});

Deno.test("a recon_max below recon_default is ignored", () => {
  const { pause } = backoff({ leastMs: 1_000, mostMs: 10, randomize: false });
  assertEquals([0, 5].map(pause), [1_000, 1_000]);
});

Deno.test("random delays are distributed evenly in the window", () => {
  const seeded = new Random("backoff");
  const { pause } = backoff({ ...OPTIONS, randomize: true, random: () => seeded.int(1 << 30) / (1 << 30) });
  for (const [i, attempt] of ATTEMPTS.entries()) {
    const tenths = Array<number>(10).fill(0);
    for (let n = 0; n < 10_000; n++) tenths[Math.min(9, Math.floor(10 * pause(attempt) / WINDOWS[i]))]++;
    // A thousand delays are expected in each part, with a standard deviation of thirty.
    assert(tenths.every((count) => Math.abs(count - 1_000) < 150), `try ${attempt}: ${tenths}`);
  }
});

Deno.test("connections within a try are made a quarter to half a window apart", () => {
  const at = (chance: number) => backoff({ ...OPTIONS, randomize: true, random: () => chance }).reconnect;
  assertEquals([at(0)(0), at(0.999)(0), at(0)(9), at(0.999)(9)], [250, 500, 2_500, 4_998]);
});
