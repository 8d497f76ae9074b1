import { assertEquals } from "#tests/support/assert.ts";
import type { FedEvents } from "#lib/api/endpoints/event_source.ts";
import { JobIndex } from "#lib/api/endpoints/job_index.ts";
import { map } from "#lib/values/value.ts";

/** The id of the job number `i`. */
function jidOf(i: number): string {
  return `20261128120000${String(i).padStart(6, "0")}`;
}

Deno.test("a job that is forgotten is forgotten at its minions too, and a minion without jobs as well", async () => {
  let tell: (batch: FedEvents) => void = () => {};
  const feed = {
    listen(listener: (batch: FedEvents) => void) {
      tell = listener;
      return Promise.resolve(() => {});
    },
  };
  const store = {
    async *list() {},
    getLoad: () => Promise.resolve(undefined),
    getReturns: () => Promise.resolve(new Map()),
  };
  const index = new JobIndex({ store, feed, log: { warning: () => {} }, maxJobs: 20 });
  await index.load();
  const begin = (i: number, minions: readonly string[]) => {
    const data = map({ fun: "test.ping", tgt: "*", tgt_type: "glob", user: "root", minions: [...minions] });
    tell({ events: [{ tag: `salt/job/${jidOf(i)}/new`, data }], missed: 0 });
  };
  begin(0, ["old", "web1"]);
  for (let i = 1; i <= 20; i++) begin(i, ["web1"]);
  // The oldest two of 21 are forgotten.
  assertEquals((await index.newest()).length, 19);
  assertEquals(
    (await index.ofMinion("web1")).map(({ jid }) => jid),
    Array.from({ length: 19 }, (_, i) => jidOf(20 - i)),
  );
  assertEquals(await index.ofMinion("old"), []);
});
