/**
 * Which jobs of a store a query lists, and in which order.
 * @module
 */

import { listed } from "#lib/jobs/job_query.ts";
import { assertEquals } from "#tests/support/assert.ts";

const jidOf = (n: number) => `20240102030405${String(n).padStart(6, "0")}`;

Deno.test("of thousands of jobs in any order the newest are listed, newest first", async () => {
  const count = 5_000;
  const jobs = Array.from({ length: count }, (_, n) => ({ jid: jidOf((n * 1_999) % count), load: new Map() }));
  const jids = async (query: Parameters<typeof listed>[1]) =>
    (await Array.fromAsync(listed(jobs, query))).map(({ jid }) => jid);
  assertEquals(await jids({ limit: 3 }), [jidOf(4_999), jidOf(4_998), jidOf(4_997)]);
  assertEquals((await jids({ newestFirst: true })).slice(0, 2), [jidOf(4_999), jidOf(4_998)]);
  assertEquals((await jids({})).slice(0, 2), [jidOf(0), jidOf(1_999)]);
});
