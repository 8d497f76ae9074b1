import { fromWireArgs, parseCliArgs, toWireArgs } from "#lib/yaml/arguments.ts";
import { Float, isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

interface Case {
  word: string;
  args: Typed;
  kwargs: Typed;
  /** The published arguments, if they differ from the parsed ones. */
  wire?: Typed;
}

/** libyaml treats these characters as line ends and folds them to spaces; ours keeps them. */
const KEPT = ["a\x85b", "a=\u2028x"];

function without(map: ValueMap, name: string): ValueMap {
  return new Map([...map].filter(([key]) => key !== name));
}

const corpus = await readCorpus<Case>("cli_args.json");

for (const { word, args, kwargs, wire } of corpus.filter(({ word }) => !KEPT.includes(word))) {
  Deno.test(`parseCliArgs() reads ${JSON.stringify(word)} as Salt does`, () => {
    const published = fromTyped(wire ?? args);
    const parsed = parseCliArgs([word]);
    assertEquals<unknown>(parsed, { args: published, kwargs: fromTyped(kwargs) });
    const arg = toWireArgs(parsed.args, parsed.kwargs);
    assertEquals(arg.length, 1);
    assertEquals(fromWireArgs(arg), { args: parsed.args, kwargs: without(parsed.kwargs, "__kwarg__") });
  });
}

for (const word of KEPT) {
  Deno.test(`parseCliArgs() keeps ${JSON.stringify(word)}, which Salt folds`, () => {
    const { args, kwargs } = parseCliArgs([word]);
    assertEquals([...args, ...kwargs.values()], [word.replace("a=", "")]);
  });
}

/** A command line, or an `arg` of a load, and Salt's result: tests/corpus/make_call_args.py. */
interface Call {
  words?: string[];
  no_parse?: string[];
  arg?: Typed;
  /** The published form of the words. */
  published?: Typed;
  /** The arguments that the minion passes to a function. */
  args: Typed;
  kwargs: Typed;
}

for (const { words, no_parse, arg, published, args, kwargs } of await readCorpus<Call>("call_args.json")) {
  Deno.test(`a minion gets from ${JSON.stringify(words ?? arg)} what Salt's gets`, () => {
    const parsed = words && parseCliArgs(words, { noParse: no_parse });
    const wire = parsed === undefined ? fromTyped(arg ?? ["L"]) : toWireArgs(parsed.args, parsed.kwargs);
    if (published !== undefined) assertEquals<unknown>(wire, fromTyped(published));
    const given = fromWireArgs(Array.isArray(wire) ? wire : []);
    assertEquals<unknown>(given.args, fromTyped(args));
    // Salt's minion takes fields of the publication from a caller, if the publication has no such field.
    const salts = fromTyped(kwargs);
    assert(isMap(salts));
    assertEquals(given.kwargs, without(salts, "__pub_fun"));
  });
}

Deno.test("parseCliArgs() keeps the order of positionals, and the last of two keyword arguments of a name", () => {
  assertEquals(parseCliArgs(["b=1", "x", "a=2", "7", "b=3"]), { args: ["x", 7], kwargs: map({ b: 3, a: 2 }) });
});

Deno.test("parseCliArgs() gives noParse names their text as it was typed, and only those", () => {
  const { kwargs } = parseCliArgs(["a=1", "b=[1]", "c=yes"], { noParse: ["a", "b"] });
  assertEquals(kwargs, map({ a: "1", b: "[1]", c: true }));
});

Deno.test("toWireArgs() adds one marked map for keyword arguments, and none without them", () => {
  assertEquals(toWireArgs(["x", 1], map({ a: 1 })), ["x", 1, map({ __kwarg__: true, a: 1 })]);
  assertEquals([...toWireArgs([], map({ a: 1 }))].map((m) => m instanceof Map && [...m.keys()]), [["__kwarg__", "a"]]);
  assertEquals(toWireArgs(["x"], new Map()), ["x"]);
});

Deno.test("toWireArgs() writes only ints that look like job ids as strings", () => {
  const ints: Value[] = [20240523101112123456n, 2024052310111212345n, 123456789012345678901n, -1234567890123456789n];
  const texts = ["20240523101112123456", ints[1], ints[2], "-1234567890123456789"];
  assertEquals(toWireArgs(ints, new Map()), texts);
});

Deno.test("fromWireArgs() reads marked maps and name=value strings as keyword arguments, as a minion does", () => {
  const arg: Value[] = ["1", map({ __kwarg__: true, a: 1, b: 2 }), "b=[3]", "c==d", map({ x: 1 }), new Float(1)];
  assertEquals(fromWireArgs(arg), {
    args: ["1", "c==d", map({ x: 1 }), new Float(1)],
    kwargs: new Map<Value, Value>([["a", 1], ["b", [3]]]),
    ambiguity: "the argument b is given twice",
  });
});

Deno.test("fromWireArgs() accepts only True as the mark, drops any other, and does not change its input", () => {
  const marked = map({ __kwarg__: 1, a: 1 });
  assertEquals(fromWireArgs([marked]), {
    args: [map({ a: 1 })],
    kwargs: new Map(),
    ambiguity: "__kwarg__ is not True",
  });
  assertEquals(marked, map({ __kwarg__: 1, a: 1 }));
});
