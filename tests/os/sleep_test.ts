/** @module */

import { sleep } from "#lib/os/sleep.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a wait ends by an abort, and one that begins after it gives a rejection, which a handler takes", async () => {
  const ending = new AbortController(), ended: unknown[] = [];
  const wait = () => sleep(60_000, ending.signal).catch((reason) => void ended.push(reason));
  const waiting = wait();
  ending.abort("the end");
  await waiting;
  await wait();
  assertEquals(ended, ["the end", "the end"]);
});
