/**
 * What must be true of fifty seeds of the simulation: nothing that is promised is lost or doubled, and everything
 * happens that may. Four files prove fifty each, beside each other.
 * @module
 */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { outputOf } from "./run.ts";

/** Seeds of a file. */
const SEEDS = 50;

/** The faults of that many seeds, and how often each happens at least. */
const FAULTS = {
  ...{ clock: 25, cut: 25, "kill both": 25, "kill master": 25, "kill minion": 25, rotate: 25, stall: 25 },
  ...{ "lost publish": 25, "new publisher": 25 },
  ...{ "power of all": 5, "power of master": 5, "power of minion": 5 },
  ...{ "stop master": 3, "database away": 3, "cut from database": 3 },
};

/** Outcomes that the operator is told, and how often each at least. */
const TOLD = { interrupted: 12, "master lost": 12, "not connected": 12 };

/** Registers a test of the fifty seeds that begin with `first`. */
export function testSeeds(first: number): void {
  Deno.test(`fifty simulated fleets with faults, from seed ${first}, lose no promised job or return, and run none twice`, async () => {
    const { code, text } = await outputOf({ seeds: Array.from({ length: SEEDS }, (_, i) => first + i), jobs: 20 });
    assertEquals(code, 0, text);
    assertMatch(text, /0 seeds failed/);
    // A simulation in which nothing happens finds nothing.
    const [, jobs, orders, runs] = /50 seeds, (\d+) jobs, (\d+) orders, (\d+) runs/.exec(text) ?? [];
    assert(Number(jobs) > 250 && Number(orders) > 500 && Number(runs) > 750, text);
    for (const [fault, least] of Object.entries(FAULTS)) {
      assert(Number(new RegExp(`${fault} (\\d+)`).exec(text)?.[1]) > least, `${fault} in ${text}`);
    }
    for (const [outcome, least] of Object.entries(TOLD)) {
      assert(Number(new RegExp(`told: .*${outcome} (\\d+)`).exec(text)?.[1]) > least, `${outcome} in ${text}`);
    }
  });
}
