/**
 * For which minions a rule allows a job, and which calls need no rule.
 * @module
 */

import { matchesName, matchesRule } from "#lib/auth/patterns.ts";
import { allowsJob, allowsMasterCall, allowsPeers, publishCalls } from "#lib/auth/rules.ts";
import { toValue, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const RULES = toValue([{ "*": ["test.ping"] }, { "web*": ["cmd.run"] }, { "@jobs": ["grains.items"] }]) as Value[];

/** `web*` means web1 and web2; any other expression means all minions. */
const matching = (expression: string) => new Set(expression === "web*" ? ["web1", "web2"] : ["web1", "web2", "db1"]);

Deno.test("a rule for some minions allows a job only if all of its minions are among them, and it has any", () => {
  for (const allows of [allowsJob, allowsPeers]) {
    const may = (fun: string, ...minions: string[]) => allows(RULES, publishCalls(fun, []), { minions, matching });
    assertEquals([may("cmd.run", "web1"), may("cmd.run", "web1", "web2")], [true, true]);
    assertEquals([may("cmd.run", "web1", "db1"), may("cmd.run", "db1"), may("cmd.run")], [false, false, false]);
    // `*` needs no minion that is known.
    assertEquals([may("test.ping", "db1"), may("test.ping")], [true, true]);
    // A rule about calls on the master is none about minions, whatever they are called.
    assertEquals([may("grains.items", "web1"), may("grains.items")], [false, false]);
  }
});

Deno.test("minions that may publish something may publish only that, each call of a compound job, and never nothing", () => {
  const target = { minions: ["web1"], matching };
  const may = (fun: Value) => allowsPeers(RULES, publishCalls(fun, []), target);
  assertEquals([may("test.ping"), may("grains.items"), may("saltutil.find_job")], [true, false, false]);
  assertEquals([may(["test.ping", "cmd.run"]), may(["test.ping", "grains.items"])], [true, false]);
  for (const allows of [allowsJob, allowsPeers]) assertEquals(allows(RULES, [], target), false);
  assertEquals(allowsJob([], publishCalls("saltutil.find_job", []), target), true);
});

Deno.test("without a rule no function of the master is allowed, also none that is no name of one", () => {
  const call = (rules: readonly Value[], fun: string) =>
    allowsMasterCall(rules, { form: "wheel", fun, args: [], kwargs: new Map() });
  assertEquals([call([], "key.list_all"), call([], "key"), call(["@wheel"], "key")], [false, false, "syntax"]);
  assertEquals([call(["@wheel"], "key.list_all"), call(["@wheel"], "key.a.b")], [true, "syntax"]);
  const rule = (key: string) => [toValue({ [key]: ["key.list_all", "list_all"] })];
  assertEquals(["@wheel", "@wheels", "@key"].map((key) => call(rule(key), "key.list_all")), [true, true, true]);
  for (const key of ["wheel", "key", "xwheel", "xkey", "@runner", "@other"]) {
    assertEquals(call(rule(key), "key.list_all"), false, key);
  }
});

Deno.test("a name of a user matches itself, a glob or a whole regular expression; a rule never more than Salt's would", () => {
  for (const [pattern, name] of [["a[1]", "a[1]"], ["a(", "a("], ["al*", "alice"], ["a.*e", "alice"]]) {
    assertEquals(matchesName(pattern, name), true, pattern);
  }
  for (const [pattern, name] of [["al", "alice"], ["lice", "alice"], ["a(", "a"], ["Alice", "alice"]]) {
    assertEquals(matchesName(pattern, name), false, pattern);
  }
  // As a glob it would match, but the expression does not match the beginning.
  assertEquals([matchesRule("test.ver*", "test.version"), matchesRule("*.ping", "test.ping")], [true, false]);
  assertEquals([matchesRule("cmd.run", "cmd.run_all"), matchesRule("(", "(")], [false, false]);
});
