import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { argspec, bind, invoke } from "#lib/plugins/call.ts";
import { InvocationError } from "#lib/errors.ts";
import { declare, type ModuleFunction, p, type Parameters } from "#lib/plugins/module.ts";
import { Float, map, type Value } from "#lib/values/value.ts";

function of(params: Parameters, more: { varArgs?: string; varKwargs?: string } = {}): ModuleFunction<null> {
  return declare<Parameters, null>({ doc: "The usage.", params, ...more, run: (bound) => ({ ...bound }) });
}

const TWO = of({ a: p.any(), b: p.any("x") });

const BOUND: readonly [string, ModuleFunction<null>, Value[], Record<string, unknown>, Record<string, unknown>][] = [
  ["positionals in order", TWO, [1, 2], {}, { a: 1, b: 2 }],
  ["a keyword for a positional", TWO, [], { a: 1 }, { a: 1, b: "x" }],
  ["None where None is given", TWO, [null], {}, { a: null, b: "x" }],
  ["a str from an int", of({ s: p.str() }), [22], {}, { s: "22" }],
  ["a str from a float", of({ s: p.str() }), [new Float(1)], {}, { s: "1.0" }],
  ["a str from a bool, as Python's str() does", of({ s: p.str() }), [true], {}, { s: "True" }],
  ["None for a str whose default is None", of({ s: p.str(null) }), [null], {}, { s: null }],
  ["an int from its text", of({ n: p.int() }), [" 12 "], {}, { n: 12 }],
  ["an int from a float without a fraction", of({ n: p.int() }), [new Float(3)], {}, { n: 3 }],
  ["a float as a JavaScript number", of({ n: p.float() }), [new Float(3)], {}, { n: 3 }],
  ["a float from text", of({ n: p.float() }), ["1.5e3"], {}, { n: 1500 }],
  ["a float's default", of({ n: p.float(2) }), [], {}, { n: 2 }],
  ["a bool from text", of({ b: p.bool() }), ["TRUE"], {}, { b: true }],
  ["a bool from an int", of({ b: p.bool() }), [0], {}, { b: false }],
  ["a list from a str with commas", of({ l: p.list() }), ["a, b,c"], {}, { l: ["a", "b", "c"] }],
  ["a list from one int", of({ l: p.list() }), [5], {}, { l: [5] }],
  ["a dict", of({ d: p.dict() }), [map({ k: 1 })], {}, { d: map({ k: 1 }) }],
  ["nothing of the publication without **kwargs", of({}), [], { __pub_jid: "1" }, {}],
];

for (const [what, fun, args, kwargs, expected] of BOUND) {
  Deno.test(`bind() binds ${what}`, () => {
    assertEquals(bind(fun, args, map(kwargs), "test.f").bound, expected);
  });
}

Deno.test("bind() passes remaining arguments to *args and **kwargs, including the publish fields", () => {
  const fun = of({ a: p.any() }, { varArgs: "args", varKwargs: "kwargs" });
  const { bound, rest } = bind(fun, [1, 2, 3], map({ k: "v", __pub_jid: "1" }), "test.f");
  assertEquals(bound, { a: 1 });
  assertEquals(rest, { args: [2, 3], kwargs: map({ k: "v", __pub_jid: "1" }) });
});

const REFUSED: readonly [string, ModuleFunction<null>, Value[], Record<string, unknown>, string][] = [
  ["too many for none", of({}), [1], {}, "f() takes 0 positional arguments but 1 was given"],
  ["too many for one", of({ a: p.any() }), [1, 2], {}, "f() takes 1 positional argument but 2 were given"],
  ["too many for a default", TWO, [1, 2, 3], {}, "f() takes from 1 to 2 positional arguments but 3 were given"],
  ["a missing one", TWO, [], {}, "f() missing 1 required positional argument: 'a'"],
  ["two missing", of({ a: p.any(), b: p.any() }), [], {}, "f() missing 2 required positional arguments: 'a' and 'b'"],
  [
    "three missing",
    of({ a: p.any(), b: p.any(), c: p.any() }),
    [],
    {},
    "f() missing 3 required positional arguments: 'a', 'b', and 'c'",
  ],
  ["an int that is none", of({ n: p.int() }), ["x"], {}, "argument 'n' must be an int, not str 'x'"],
  ["an int with a fraction", of({ n: p.int() }), [1.5], {}, "argument 'n' must be an int, not float 1.5"],
  ["an int beyond what is exact", of({ n: p.int() }), [2n ** 64n], {}, "must be an int, not int 18446744073709551616"],
  ["None for an int", of({ n: p.int(3) }), [null], {}, "argument 'n' must be an int, not NoneType None"],
  ["a list for a str", of({ s: p.str() }), [["a"]], {}, "argument 's' must be a str, not list ['a']"],
  ["a word for a bool", of({ b: p.bool() }), ["maybe"], {}, "argument 'b' must be a bool, not str 'maybe'"],
  ["a str for a dict", of({ d: p.dict() }), ["x"], {}, "argument 'd' must be a dict, not str 'x'"],
  ["a map for a list", of({ l: p.list() }), [map({})], {}, "argument 'l' must be a list, not dict {}"],
];

for (const [what, fun, args, kwargs, message] of REFUSED) {
  Deno.test(`bind() refuses ${what}, with the usage`, () => {
    const error = assertThrows(() => bind(fun, args, map(kwargs), "test.f"), InvocationError, message);
    assertEquals(error.usage, "The usage.");
  });
}

Deno.test("bind() refuses an argument that is given twice, without the usage", () => {
  const message = "f() got multiple values for argument 'a'";
  const error = assertThrows(() => bind(TWO, [1], map({ a: 2 }), "test.f"), InvocationError, message);
  assertEquals(error.usage, undefined);
});

Deno.test("bind() takes parameters that are keyword-only by name, and all positional arguments as *args", () => {
  const fun = { doc: "", params: { how: p.any("usual"), merge: p.any(null) }, varArgs: "args", keywordOnly: true };
  const { bound, rest } = bind(fun, [1, 2, 3], map({ how: "x" }), "test.f");
  assertEquals([bound, rest], [{ how: "x", merge: null }, { args: [1, 2, 3], kwargs: new Map() }]);
  assertEquals(bind(fun, [], map({}), "test.f").bound, { how: "usual", merge: null });
  assertThrows(() => bind(fun, [], map({ other: 1 }), "test.f"), InvocationError, "other=1");
  assertEquals(argspec(fun), { args: ["how", "merge"], defaults: ["usual", null], varargs: true, kwargs: null });
});

Deno.test("bind() refuses unknown keywords in Salt's words, without the usage", () => {
  const error = assertThrows(
    () => bind(TWO, [1], map({ c: 1, constructor: "x" }), "test.f"),
    InvocationError,
    "The following keyword arguments are not valid: c=1, constructor=x",
  );
  assertEquals(error.usage, undefined);
});

Deno.test("invoke() does not run a function whose arguments are refused", async () => {
  let ran = false;
  const fun = declare<Parameters, null>({ doc: "", params: {}, run: () => ran = true });
  await assertRejects(
    () => invoke(fun, { name: "test.f", args: [1], kwargs: new Map(), context: null }),
    InvocationError,
  );
  assertEquals(ran, false);
});

Deno.test("invoke() converts the return of a function to values, also of promises", async () => {
  const fun = declare<Parameters, null>({ doc: "", params: {}, run: () => Promise.resolve({ a: [undefined, 1] }) });
  assertEquals(await invoke(fun, { name: "t.f", args: [], kwargs: new Map(), context: null }), map({ a: [null, 1] }));
});

Deno.test("argspec() has the shape of sys.argspec", () => {
  assertEquals(argspec(TWO), { args: ["a", "b"], defaults: ["x"], varargs: null, kwargs: null });
  assertEquals(argspec(of({}, { varArgs: "args", varKwargs: "kw" })), {
    args: null,
    defaults: null,
    varargs: true,
    kwargs: true,
  });
  assertEquals(argspec(of({ a: p.any(null) })).defaults, [null]);
});
