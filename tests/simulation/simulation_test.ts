/**
 * Two hundred seeds of the simulation, in which nothing that is promised may be lost or doubled; and that a seed is
 * one story.
 * @module
 */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { runSimulation, type Simulation } from "./run.ts";

async function outputOf(simulation: Simulation): Promise<{ code: number; text: string }> {
  let text = "";
  const code = await runSimulation(simulation, (part) => text += part);
  return { code, text };
}

Deno.test("200 simulated fleets with faults lose no promised job or return, and run none twice", async () => {
  const { code, text } = await outputOf({ seeds: [1, 200], jobs: 20 });
  assertEquals(code, 0, text);
  assertMatch(text, /0 seeds failed/);
  // A simulation in which nothing happens finds nothing.
  const [, jobs, orders, runs] = /200 seeds, (\d+) jobs, (\d+) orders, (\d+) runs/.exec(text) ?? [];
  assert(Number(jobs) > 1_000 && Number(orders) > 2_000 && Number(runs) > 3_000, text);
  for (const fault of ["clock", "cut", "kill both", "kill master", "kill minion", "rotate", "stall"]) {
    assert(Number(new RegExp(`${fault} (\\d+)`).exec(text)?.[1]) > 100, `${fault} in ${text}`);
  }
  for (const outcome of ["interrupted", "master lost", "not connected"]) {
    assert(Number(new RegExp(`told: .*${outcome} (\\d+)`).exec(text)?.[1]) > 50, `${outcome} in ${text}`);
  }
  const rare = ["power of all", "power of master", "power of minion"];
  for (const fault of [...rare, "stop master", "database away", "cut from database"]) {
    assert(Number(new RegExp(`${fault} (\\d+)`).exec(text)?.[1]) > 30, `${fault} in ${text}`);
  }
});

Deno.test("a seed of the simulation is the same story each time, and another seed is another", async () => {
  const first = await outputOf({ seeds: [1, 3], jobs: 8, output: "hash" });
  assertEquals((await outputOf({ seeds: [1, 3], jobs: 8, output: "hash" })).text, first.text);
  assertEquals(new Set(first.text.match(/[0-9a-f]{16}/g)).size, 3, first.text);
});
