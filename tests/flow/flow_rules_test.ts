import { ConfigError } from "#lib/errors.ts";
import { parseFlow } from "#lib/flow/flow_rules.ts";
import { checkFlow } from "#lib/flow/open_flow.ts";
import { toValue } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const rules = (...option: unknown[]) => parseFlow(toValue(option));

Deno.test("rates are counted by seconds, with K, M and G, and burst is at least one", () => {
  const { jobs } = rules(
    { user: "ci", jobs: "10/s", burst: 50 },
    { fun: "state.*", jobs: "60/m" },
    { user: "slow", jobs: "30/h" },
    { user: "plain", jobs: 4 },
  );
  assertEquals(jobs.map((rule) => rule.jobs), [
    { perSecond: 10, burst: 50 },
    { perSecond: 1, burst: 1 },
    { perSecond: 30 / 3600, burst: 1 },
    { perSecond: 4, burst: 4 },
  ]);
  const { minions: [minion] } = rules({ minion: "*", returns: "50/s", events: "20/s", bytes: "1M/s", burst: 500 });
  assertEquals([minion.returns, minion.events, minion.bytes], [
    { perSecond: 50, burst: 500 },
    { perSecond: 20, burst: 500 },
    { perSecond: 1e6, burst: 1e6 },
  ]);
});

Deno.test("a rule matches by globs of the user, the function and the minion; what it does not name is any", () => {
  const { jobs: [both, user], minions: [minion] } = rules(
    { user: "ci*", fun: "state.*", jobs: "1/s" },
    { user: "root", jobs: "1/s" },
    { minion: "web*", events: "1/s" },
  );
  assertEquals(both.matches("ci2", ["test.ping", "state.apply"]), true);
  assertEquals(both.matches("ci2", ["test.ping"]), false);
  assertEquals(both.matches("root", ["state.apply"]), false);
  assertEquals(user.matches("root", ["test.ping"]), true);
  assertEquals([minion.matches("web1"), minion.matches("db1")], [true, false]);
});

Deno.test("a rule may bound on how many minions its jobs run at once, beside their rate or alone", () => {
  const { jobs, running } = rules({ fun: "state.*", jobs: "1/s", running: 200 }, { user: "ci", running: 3 });
  assertEquals(jobs.map(({ rule }) => rule), [1]);
  assertEquals(running.map(({ rule, running }) => [rule, running]), [[1, 200], [2, 3]]);
  assertEquals([running[1].matches("ci", ["test.ping"]), running[1].matches("root", ["test.ping"])], [true, false]);
});

Deno.test("a master of masters counts no minions below syndics", () => {
  const flow = toValue([{ user: "ci", jobs: "1/s" }, { fun: "state.*", running: 2 }]);
  const error = assertThrows(() => checkFlow({ flow, order_masters: true }), ConfigError);
  assertEquals(
    error.message,
    "flow: rule 2: `running` cannot count minions below syndics: set it on their masters, or order_masters to false",
  );
  checkFlow({ flow, order_masters: false });
  checkFlow({ flow: toValue([{ user: "ci", jobs: "1/s" }]), order_masters: true });
});

Deno.test("a rule that cannot be read is refused with its place", () => {
  for (
    const [option, text] of [
      ["x", "flow: this is no list of rules"],
      [["x"], "flow: rule 1: 'x' is no rule"],
      [[{ user: "ci", jobs: "1/s" }, { jobs: "1/s" }], "flow: rule 2: it needs `user`, `fun` or `minion`"],
      [[{ user: "ci" }], "flow: rule 1: it needs `jobs`, a number like 10/s, or `running`, a number of minions"],
      [[{ user: "ci", running: 0 }], "flow: rule 1: its `running` is no number of minions above 0: 0"],
      [[{ user: "ci", running: 1.5 }], "flow: rule 1: its `running` is no number of minions above 0: 1.5"],
      [[{ user: "ci", running: "many" }], "flow: rule 1: its `running` is no number of minions above 0: 'many'"],
      [[{ user: "ci", job: "1/s" }], "flow: rule 1: it has the unknown key 'job'; did you mean jobs?"],
      [[{ user: "ci", jobs: "fast" }], "flow: rule 1: its `jobs` is no rate like 10/s, 60/m or 1M/s: 'fast'"],
      [[{ user: "ci", jobs: "0/s" }], "flow: rule 1: its `jobs` is no rate like 10/s, 60/m or 1M/s: '0/s'"],
      [[{ user: "ci", jobs: -1 }], "flow: rule 1: its `jobs` is no rate like 10/s, 60/m or 1M/s: -1"],
      [[{ user: "ci", jobs: "1/s", burst: 0 }], "flow: rule 1: its `burst` is no number above 0: 0"],
      [[{ user: 5, jobs: "1/s" }], "flow: rule 1: its `user` is no name: 5"],
      [[{ minion: "*" }], "flow: rule 1: it needs `returns`, `events` or `bytes`"],
    ] as const
  ) assertEquals(assertThrows(() => parseFlow(toValue(option)), ConfigError).message, text);
});
