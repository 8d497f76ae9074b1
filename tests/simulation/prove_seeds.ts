/**
 * What must be true of a hundred seeds of the simulation: nothing that is promised is lost or doubled, and everything
 * happens that may. Two files prove a hundred each, at the same time.
 * @module
 */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { outputOf } from "./run.ts";

/** The faults of a hundred seeds, and how often each happens at least. */
const FAULTS = {
  ...{ clock: 50, cut: 50, "kill both": 50, "kill master": 50, "kill minion": 50, rotate: 50, stall: 50 },
  ...{ "power of all": 15, "power of master": 15, "power of minion": 15 },
  ...{ "stop master": 15, "database away": 15, "cut from database": 15 },
};

/** Outcomes that the operator is told, and how often each at least. */
const TOLD = { interrupted: 25, "master lost": 25, "not connected": 25 };

/** Registers a test of the hundred seeds that begin with `first`. */
export function testHundredSeeds(first: number): void {
  Deno.test(`a hundred simulated fleets with faults, from seed ${first}, lose no promised job or return, and run none twice`, async () => {
    const { code, text } = await outputOf({ seeds: [first, first + 99], jobs: 20 });
    assertEquals(code, 0, text);
    assertMatch(text, /0 seeds failed/);
    // A simulation in which nothing happens finds nothing.
    const [, jobs, orders, runs] = /100 seeds, (\d+) jobs, (\d+) orders, (\d+) runs/.exec(text) ?? [];
    assert(Number(jobs) > 500 && Number(orders) > 1_000 && Number(runs) > 1_500, text);
    for (const [fault, least] of Object.entries(FAULTS)) {
      assert(Number(new RegExp(`${fault} (\\d+)`).exec(text)?.[1]) > least, `${fault} in ${text}`);
    }
    for (const [outcome, least] of Object.entries(TOLD)) {
      assert(Number(new RegExp(`told: .*${outcome} (\\d+)`).exec(text)?.[1]) > least, `${outcome} in ${text}`);
    }
  });
}
