/**
 * Rules on arguments hold for what a minion runs: the master reads the arguments of a publish as the minion does.
 * @module
 */

import { Access } from "#lib/auth/access.ts";
import { allowsJob, allowsMasterCall, allowsPeers, publishCalls } from "#lib/auth/rules.ts";
import { RefusedError } from "#lib/errors.ts";
import { executeMany } from "#lib/plugins/execution.ts";
import { requestArguments } from "#lib/protocol/low.ts";
import { isMap, map, repr, str, toValue, type Value } from "#lib/values/value.ts";
import { Random } from "#tests/fuzz/mutate.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { asMap } from "#tests/support/fleet/scripted_minion.ts";

const TARGET = { minions: ["web1"], matching: () => new Set(["web1"]) };

function list(value: unknown): readonly Value[] {
  const converted = toValue(value);
  assert(Array.isArray(converted));
  return converted;
}

/** Whether the conditions allow the call, and what peers and `publisher_acl` say; all must say the same. */
function allows(conditions: unknown, fun: Value, arg: readonly Value[]): boolean {
  const rules = list([{ "*": [{ "test.arg": conditions }] }]);
  const calls = publishCalls(fun, arg);
  const allowed = allowsJob(rules, calls, TARGET);
  assertEquals(allowsPeers(rules, calls, TARGET), allowed);
  const access = new Access(new Map([["ann", "key"]]), { owner: "root", acl: map({ ann: [...rules] }) });
  if (allowed) access.authorizeJob("ann", calls, TARGET);
  else assertThrows(() => access.authorizeJob("ann", calls, TARGET), RefusedError);
  return allowed;
}

const COPY = { args: [null, "/allowed.*"] };
const NAMED = { kwargs: { name: "allowed" } };

Deno.test("a rule on arguments is checked with the places and names that the minion gives them", () => {
  const cases: [conditions: unknown, arg: unknown[], allowed: boolean][] = [
    [COPY, ["source", "/allowed/x"], true],
    [COPY, ["source", "/forbidden"], false],
    [COPY, ["remove_existing=True", "source", "/forbidden"], false],
    [COPY, ["remove_existing=True", "source", "/allowed/x"], true],
    [COPY, [{ __kwarg__: true, a: 1 }, "/allowed/source", "/forbidden"], false],
    [NAMED, [{ __kwarg__: true, name: "allowed" }], true],
    [NAMED, ["name=allowed"], true],
    [NAMED, ["name=forbidden"], false],
    [NAMED, ["forbidden", { __kwarg__: false, name: "allowed" }], false],
    [NAMED, ["forbidden", { __kwarg__: 1, name: "allowed" }], false],
    [NAMED, ["name=forbidden", { __kwarg__: true, name: "allowed" }], false],
    [NAMED, [{ __kwarg__: true, name: "allowed" }, "name=forbidden"], false],
    [NAMED, [{ __kwarg__: true, name: "allowed" }, { __kwarg__: true, name: "forbidden" }], false],
    // The minion drops these: no caller can claim to be another minion.
    [{ kwargs: { __pub_id: "web1" } }, [{ __kwarg__: true, __pub_id: "web1" }], false],
  ];
  for (const [conditions, arg, allowed] of cases) {
    assertEquals(allows(conditions, "test.arg", list(arg)), allowed, JSON.stringify(arg));
    assertEquals(allows(conditions, ["test.arg", "test.arg"], [list(arg), list(arg)].map((one) => [...one])), allowed);
  }
});

Deno.test("arguments that can be read in two ways are refused for users with rules, whatever the rule", () => {
  const unclear: unknown[][] = [
    ["a=1", "a=1"],
    ["a=1", { __kwarg__: true, a: 1 }],
    [{ __kwarg__: true, a: 1 }, { __kwarg__: true, a: 1 }],
    [{ __kwarg__: false, a: 1 }],
    [{ __kwarg__: null }],
    ["x", { __kwarg__: "True", a: 1 }],
  ];
  for (const arg of unclear) {
    for (const rules of [["test.*"], [{ "*": ["test.arg"] }], [{ "*": [{ "test.arg": [{}] }] }]]) {
      assertEquals(allowsJob(list(rules), publishCalls("test.arg", list(arg)), TARGET), false, JSON.stringify(arg));
      const compound = publishCalls(["test.ping", "test.arg"], [[], [...list(arg)]]);
      assertEquals(allowsJob(list(rules), compound, TARGET), false, JSON.stringify(arg));
    }
  }
  assertEquals(allowsJob(["test.*"], publishCalls("test.arg", list(["a=1", { __kwarg__: true, b: 1 }])), TARGET), true);
});

const NAMES = ["a", "b", "name"];
const VALUES: readonly Value[] = ["x", "y", "/allowed/z", "/forbidden", 1, true, null];

/** One argument of a publish: a value, `name=value`, a map with or without a mark. */
function randomArgument(random: Random): Value {
  const named = () => new Map<Value, Value>([[random.pick(NAMES), random.pick(VALUES)]]);
  switch (random.int(6)) {
    case 0:
    case 1:
      return random.pick(VALUES);
    case 2:
      return `${random.pick(NAMES)}=${random.pick(["x", "y", "/forbidden", "1", "[x, y]", "==", ""])}`;
    case 3:
      return named().set("__kwarg__", random.chance(0.8) ? true : random.pick([false, 1, "True", null]));
    case 4:
      return [random.pick(VALUES)];
    default:
      return named();
  }
}

/** What the function got in its places and by its names. */
function received(result: Value): { readonly args: readonly Value[]; readonly kwargs: ReadonlyMap<Value, Value> } {
  const [args, kwargs] = [asMap(result).get("args"), asMap(result).get("kwargs")];
  assert(Array.isArray(args) && isMap(kwargs));
  return { args, kwargs: new Map([...kwargs].filter(([name]) => !str(name).startsWith("__pub_"))) };
}

/** Whether no argument has a second meaning: counted here without the code that reads them. */
function isClear(arg: readonly Value[]): boolean {
  const names = arg.flatMap((one) => {
    if (typeof one === "string") return /^(?:a|b|name)=(?!=)/.test(one) ? [one.split("=")[0]] : [];
    return isMap(one) && one.get("__kwarg__") === true ? [...one.keys()].filter((name) => name !== "__kwarg__") : [];
  });
  return new Set(names).size === names.length &&
    arg.every((one) => !isMap(one) || !one.has("__kwarg__") || one.get("__kwarg__") === true);
}

Deno.test("for random lists of arguments, the master's reading equals the minion's", async () => {
  const random = new Random("arguments");
  const context = testContext();
  let [clear, allowedOnes] = [0, 0];
  for (let i = 0; i < 3_000; i++) {
    const arg = Array.from({ length: random.int(5) }, () => randomArgument(random));
    const ran = received((await run("test.arg", arg)).return);
    const conditions = {
      args: Array.from({ length: random.int(3) }, () => random.pick([null, "x", "/allowed.*", "1", "None", "True"])),
      kwargs: Object.fromEntries(
        NAMES.filter(() => random.chance(0.3)).map((name) => [name, random.pick([null, "x", "1", "/allowed.*"])]),
      ),
    };
    const fits = (pattern: string | null, value: Value) =>
      pattern === null || new RegExp(`^(?:${pattern})$`).test(str(value));
    const expected = isClear(arg) &&
      conditions.args.every((pattern, at) => at < ran.args.length && fits(pattern, ran.args[at])) &&
      Object.entries(conditions.kwargs).every(([name, pattern]) =>
        ran.kwargs.has(name) && fits(pattern, ran.kwargs.get(name) ?? null)
      );
    assertEquals(allows([conditions], "test.arg", arg), expected, `${JSON.stringify(conditions)} ${repr(arg)}`);
    const many = await executeMany({ fun: ["test.arg"], arg: [arg] }, context);
    assertEquals(received(asMap(many.return).get("test.arg") ?? null), ran);
    clear += Number(isClear(arg));
    allowedOnes += Number(expected);
  }
  // Both answers were frequent.
  assert(clear > 1_000 && clear < 2_900 && allowedOnes > 300, `${clear} ${allowedOnes}`);
});

Deno.test("the arguments of a compound job's function are the same for the check and the run if they are no list", async () => {
  const context = testContext();
  for (const arg of [["/forbidden"], ["name=forbidden"], [map({ __kwarg__: true, name: "forbidden" })], []]) {
    const many = await executeMany({ fun: ["test.arg"], arg }, context);
    const { args, kwargs } = received(asMap(many.return).get("test.arg") ?? null);
    assertEquals(allows([{ args: [null] }], ["test.arg"], arg), args.length > 0, repr(arg));
    assertEquals(allows([{ kwargs: { name: null } }], ["test.arg"], arg), kwargs.has("name"), repr(arg));
  }
});

Deno.test("a runner or wheel function whose arguments have a name twice is refused for users with rules", () => {
  const allowed = (kind: "runner" | "wheel", load: Record<string, unknown>) =>
    allowsMasterCall(list(["@runner", "@wheel"]), {
      form: kind,
      fun: "test.arg",
      ...requestArguments(asMap(toValue(load)), kind),
    });
  assertEquals(allowed("wheel", { fun: "x.y", arg: ["x"], kwarg: { a: 1 } }), true);
  assertEquals(allowed("wheel", { fun: "x.y", a: 1, kwarg: { a: 1 } }), false);
  assertEquals(allowed("wheel", { fun: "x.y", kwarg: { __kwarg__: false, a: 1 } }), false);
  assertEquals(allowed("wheel", { fun: "x.y", kwarg: { __kwarg__: true, a: 1 } }), true);
  assertEquals(allowed("runner", { kwarg: { arg: ["x"], kwarg: { a: 1 } } }), true);
  assertEquals(allowed("runner", { kwarg: { a: 1, kwarg: { a: 2 } } }), false);
});
