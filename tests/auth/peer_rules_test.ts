/** @module */

import { mayRun, peerJob, peerRules, publishesAgain } from "#lib/auth/peer_rules.ts";
import { map, repr, toValue } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("peer: the rules of an expression apply if it matches the whole id", () => {
  const peer = map({
    "web.*": ["test.*"],
    "web1|db1": ["a.b"],
    ".*": ["c.d"],
    "(": ["bad"],
    db: "no list",
    web: ["short"],
  });
  assertEquals(peerRules(peer, "web1"), ["test.*", "a.b", "c.d"]);
  assertEquals(peerRules(peer, "db1"), ["a.b", "c.d"]);
  assertEquals(peerRules(peer, "xweb1"), ["c.d"]);
});

Deno.test("peer_run: a rule must match the whole runner function", () => {
  const option = map({ "web.*": ["manage.up", "jobs.*", 7, { "*": ["cache.x"] }] });
  const verdicts = ["manage.up", "jobs.list_jobs", "manage.up_all", "xjobs.a", "cache.x"].map((fun) =>
    mayRun(option, "web1", fun)
  );
  assertEquals(verdicts, [true, true, false, false, false]);
  assertEquals(mayRun(option, "db1", "manage.up"), false);
});

Deno.test("peer: arguments are parsed as on a command line before the rules are applied", () => {
  const read = (fun: string, arg: unknown[], noParse: string[] = []) => {
    const listed = toValue(arg);
    const { fun: name, arg: parsed } = peerJob(fun, Array.isArray(listed) ? listed : [], noParse);
    return `${repr(name)} ${repr(parsed)}`;
  };
  assertEquals(
    read("test.arg", ["1", "a b", ["x"], "k=[1, 2]"]),
    "'test.arg' [1, 'a b', ['x'], {'__kwarg__': True, 'k': [1, 2]}]",
  );
  assertEquals(read("test.arg", ["k=1"], ["k"]), "'test.arg' [{'__kwarg__': True, 'k': '1'}]");
  assertEquals(read("a.b,c.d", ["1 x=2", ""]), "['a.b', 'c.d'] [[1, {'__kwarg__': True, 'x': 2}], []]");
  assertEquals(read("a.b,c.d", ["1"]), "['a.b', 'c.d'] [[1], []]");
});

Deno.test("peer: no function may publish again, also not in a compound job", () => {
  const again = (fun: string) => publishesAgain(peerJob(fun, [], []));
  assertEquals(["publish.publish", "test.ping,publish.full_data", "test.ping, publish.runner"].map(again), [
    true,
    true,
    true,
  ]);
  assertEquals(["test.ping", "publisher.x", "test.publish.x"].map(again), [false, false, false]);
});
