import { FlowCounts } from "#lib/flow/flow_counts.ts";
import { parseFlow } from "#lib/flow/flow_rules.ts";
import { JobFlow } from "#lib/flow/job_flow.ts";
import { SharedBuckets } from "#lib/flow/shared_buckets.ts";
import { toValue } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("masters of a cluster share a rate, and the burst", () => {
  const { jobs } = parseFlow(toValue([{ user: "ci", jobs: "2/s", burst: 6 }]));
  const parts = { buckets: new SharedBuckets(), counts: new FlowCounts(1), masters: () => 3 };
  const flow = new JobFlow(jobs, parts), nowMs = 1_800_000_000_000;
  const ask = () => flow.admit("ci", ["test.ping"], nowMs)?.retryAfter ?? 0;
  assertEquals([ask(), ask(), ask()], [0, 0, 1.5]);
});

/** Two threads with the same rules and the same memory. */
function twoThreads(...option: unknown[]) {
  const { jobs } = parseFlow(toValue(option));
  const buckets = new SharedBuckets(), counts = new FlowCounts(option.length);
  const other = { buckets: new SharedBuckets(buckets.memory), counts: new FlowCounts(option.length, counts.memory) };
  const rows = () => counts.rows(toValue(option) as never);
  return { threads: [new JobFlow(jobs, { buckets, counts }), new JobFlow(jobs, other)], rows };
}

Deno.test("a burst passes at once, in any thread; then one job for each token, and the wait is told", () => {
  const { threads } = twoThreads({ user: "ci", jobs: "10/s", burst: 4 });
  let nowMs = 1_800_000_000_000;
  const ask = (i: number) => threads[i % 2].admit("ci", ["test.ping"], nowMs)?.retryAfter ?? 0;
  assertEquals([0, 1, 2, 3, 4].map(ask), [0, 0, 0, 0, 0.1]);
  nowMs += 100;
  assertEquals([0, 1].map(ask), [0, 0.1]);
  nowMs += 60_000;
  assertEquals([0, 1, 2, 3, 4].map(ask), [0, 0, 0, 0, 0.1]);
  // A clock that was set back by an hour does not hold jobs back for an hour.
  nowMs -= 3_600_000;
  assertEquals(ask(0), 0.1);
  nowMs += 100;
  assertEquals(ask(1), 0);
});

Deno.test("the first rule that matches counts, each user has a bucket, and questions of commands pass", () => {
  const { threads: [flow], rows } = twoThreads({ user: "ci*", jobs: "1/m" }, { fun: "*", jobs: "1/h" });
  const nowMs = 1_800_000_000_000;
  const ask = (user: string, ...funs: string[]) => flow.admit(user, funs, nowMs);
  assertEquals(ask("ci1", "test.ping"), undefined);
  assertEquals(ask("ci2", "test.ping"), undefined);
  assertEquals(ask("ci1", "test.ping"), { rule: 1, retryAfter: 60 });
  assertEquals(ask("ci1", "saltutil.find_job"), undefined);
  assertEquals(ask("ci1", "saltutil.find_job", "test.ping"), { rule: 1, retryAfter: 60 });
  assertEquals(ask("root", "test.ping"), undefined);
  assertEquals(ask("root", "test.ping"), { rule: 2, retryAfter: 3600 });
  const count = (rule: unknown, passed: number, throttled: number) => ({
    rule,
    passed,
    throttled,
    late: 0,
    dropped: 0,
  });
  assertEquals(
    rows(),
    toValue([count({ user: "ci*", jobs: "1/m" }, 2, 2), count({ fun: "*", jobs: "1/h" }, 1, 1)]),
  );
});
