import { FlowCounts } from "#lib/flow/flow_counts.ts";
import { parseFlow } from "#lib/flow/flow_rules.ts";
import { type PlacedJob, RunningPlaces } from "#lib/flow/running_places.ts";
import { isMap, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const STATE = ["state.apply"];

/** The places of these rules, with all minions connected but those in `away`. */
function placesOf(...option: Readonly<Record<string, unknown>>[]) {
  const { running } = parseFlow(toValue(option)), counts = new FlowCounts(option.length);
  let masters = 1, nowMs = 0;
  const places = new RunningPlaces(running, { counts, masters: () => masters });
  const away = new Set<string>(), isConnected = (id: string) => !away.has(id);
  return {
    places,
    away,
    add: (jid: string, minions: readonly string[], more: Partial<PlacedJob> & { funs?: string[] } = {}) =>
      places.add({ jid, user: "root", minions, ttlMs: 5_000, ...more }, more.funs ?? STATE, nowMs),
    next: () => places.next(isConnected, nowMs).map(({ jid, ids }) => `${jid}: ${ids.join(" ")}`),
    pass: (ms: number) => {
      nowMs += ms;
      places.look(isConnected, nowMs);
    },
    share: (count: number) => void (masters = count),
    rows: () => {
      const rows = counts.rows(toValue(option) as Value[]);
      return (Array.isArray(rows) ? rows : []).map((row) =>
        ["passed", "running", "waiting"].map((name) => isMap(row) ? row.get(name) ?? null : null)
      );
    },
  };
}

Deno.test("so many minions run at once as the rule says, and the next begin when others have returned", () => {
  const { places, add, next, rows } = placesOf({ fun: "state.*", running: 2 });
  add("1", ["a", "b", "c", "d"]);
  assertEquals([next(), next()], [["1: a b"], []]);
  assertEquals(rows(), [[2, 2, 2]]);
  places.acknowledged("1", "a", true);
  assertEquals(next(), []);
  places.returned("1", "b");
  places.returned("1", "b");
  assertEquals([next(), next()], [["1: c"], []]);
  // One that waits may have returned already, to a master before this one.
  places.returned("1", "d");
  places.returned("1", "a");
  assertEquals(next(), []);
  places.forgetOver();
  assertEquals(places.size, 1);
  places.returned("1", "c");
  places.forgetOver();
  assertEquals([places.size, rows()], [0, [[3, 0, 0]]]);
});

Deno.test("free places go to the users in turn, and of each user to the jobs in turn", () => {
  const { places, add, next } = placesOf({ fun: "state.*", running: 1 });
  const flood = Array.from({ length: 50 }, (_, i) => `m${i}`);
  add("ci-1", flood, { user: "ci" });
  add("ci-2", flood, { user: "ci" });
  add("ops-1", ["web1", "web2"], { user: "ops" });
  const order: string[] = [];
  for (let [granted] = next(); order.length < 7; [granted] = next()) {
    const [jid, id] = granted.split(": ");
    order.push(jid);
    places.returned(jid, id);
  }
  assertEquals(order, ["ci-1", "ops-1", "ci-2", "ops-1", "ci-1", "ci-2", "ci-1"]);
});

Deno.test("places that are free at once go to the users in turn too", () => {
  const { add, next } = placesOf({ fun: "state.*", running: 4 });
  add("ci", ["a", "b", "c", "d", "e"], { user: "ci" });
  add("ci-2", ["a", "b"], { user: "ci" });
  add("ops", ["x", "y"], { user: "ops" });
  assertEquals(next(), ["ci: a", "ops: x y", "ci-2: a"]);
});

Deno.test("minions that are not connected begin after the others, and lose their places", () => {
  const { places, away, add, next, pass } = placesOf({ fun: "state.*", running: 2 });
  away.add("a").add("b");
  add("1", ["a", "b", "c"], { ttlMs: 5_000 });
  assertEquals(next(), ["1: c a"]);
  pass(0);
  pass(4_999);
  assertEquals(next(), []);
  pass(1);
  assertEquals(next(), ["1: b"]);
  away.delete("b");
  places.acknowledged("1", "b", true);
  pass(60_000);
  // A minion that has the job and is gone has its place for 30 s.
  away.add("b");
  places.returned("1", "c");
  add("2", ["x", "y"]);
  assertEquals(next(), ["2: x"]);
  pass(0);
  pass(29_999);
  assertEquals(next(), []);
  pass(1);
  assertEquals(next(), ["2: y"]);
});

Deno.test("a minion that never says that it has the job has its place until it returns, a day at most", () => {
  const { add, next, pass } = placesOf({ fun: "state.*", running: 1 });
  add("1", ["python"]);
  add("2", ["web1"]);
  assertEquals(next(), ["1: python"]);
  pass(86_399_999);
  assertEquals(next(), []);
  pass(1);
  assertEquals(next(), ["2: web1"]);
});

Deno.test("a minion that has the job of another master takes no place here", () => {
  const { places, away, add, next } = placesOf({ fun: "state.*", running: 1 });
  away.add("there");
  add("1", ["there"]);
  add("2", ["here"]);
  assertEquals(next(), ["2: here"]);
  places.returned("2", "here");
  assertEquals(next(), ["1: there"]);
  places.acknowledged("1", "there", false);
  places.forgetOver();
  assertEquals(places.size, 0);
});

Deno.test("the first rule that matches counts; what ends or finds a job waits for nothing; masters share a limit", () => {
  const { places, add, next, share } = placesOf({ user: "ci", running: 1 }, { fun: "*", jobs: "1/s" }, {
    fun: "*",
    running: 5,
  });
  const names = [
    "kill_job",
    "term_job",
    "signal_job",
    "kill_all_jobs",
    "term_all_jobs",
    "find_job",
    "running",
    "is_running",
  ];
  assertEquals(names.filter((name) => places.ruleFor("ci", [`saltutil.${name}`]) !== undefined), []);
  assertEquals(["test.ping", "saltutil.sync_all"].map((fun) => places.ruleFor("ci", [fun])), [1, 1]);
  assertEquals(places.ruleFor("root", ["saltutil.term_job", "test.ping"]), 3);
  share(2);
  add("1", ["a", "b", "c", "d"]);
  add("2", ["a", "b"], { user: "ci", funs: ["test.ping"] });
  assertEquals(next(), ["2: a", "1: a b"]);
  share(1);
  assertEquals(next(), ["1: c d"]);
});

Deno.test("minions that an earlier master has sent the job have their places", () => {
  const { places, add, next } = placesOf({ fun: "state.*", running: 2 });
  add("1", ["a", "b", "c", "d"], { sent: ["c", "d"] });
  assertEquals(next(), []);
  assertEquals(places.minionsOf("1"), { waiting: ["a", "b"], sent: ["c", "d"] });
  places.returned("1", "d");
  assertEquals(next(), ["1: a"]);
});

Deno.test("a job that is there already, has no rule or no minions takes no places; an unknown one gives none back", () => {
  const { places, add, next, rows } = placesOf({ fun: "state.*", running: 2 });
  add("1", ["a"]);
  add("1", ["b", "c"]);
  add("2", ["a"], { funs: ["test.ping"] });
  add("3", []);
  assertEquals([places.size, next()], [1, ["1: a"]]);
  places.acknowledged("2", "a", false);
  places.returned("2", "a");
  assertEquals([places.cancel("2", new Set(["a"])), rows()], [[], [[1, 1, 0]]]);
});
