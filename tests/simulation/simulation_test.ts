/**
 * A seed of the simulation is one story.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { outputOf } from "./run.ts";

Deno.test("a seed of the simulation is the same story each time, and another seed is another", async () => {
  const first = await outputOf({ seeds: "1-3", jobs: 8, output: "hash" });
  assertEquals((await outputOf({ seeds: "1-3", jobs: 8, output: "hash" })).text, first.text);
  assertEquals(new Set(first.text.match(/[0-9a-f]{16}/g)).size, 3, first.text);
});
