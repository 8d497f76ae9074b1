/**
 * A seed of the simulation is one story.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { outputOf } from "./run.ts";

Deno.test("a seed of the simulation is the same story each time, and another seed is another", async () => {
  const asked = { seeds: [1, 2, 3], jobs: 8, output: "hash" } as const;
  const first = await outputOf(asked);
  assertEquals((await outputOf(asked)).text, first.text);
  assertEquals(new Set(first.text.match(/[0-9a-f]{16}/g)).size, 3, first.text);
});
