import corpus from "#tests/corpus/serializers.json" with { type: "json" };
import { CommandError, InvocationError } from "#lib/errors.ts";
import { fn } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { findSerializer } from "#lib/render/own_serializer.ts";
import { SERIALIZERS } from "#lib/render/serializers.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, repr, str, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { fromTyped, type Typed } from "#tests/support/typed_values.ts";

/** Only the corpus script defines these notations. */
const value = (typed: unknown): Value => fromTyped(typed as Typed);

/** The result in Python's notation, or the refusal. */
function answerOf(make: () => unknown): string {
  try {
    return repr(make() as Value);
  } catch (error) {
    if (error instanceof CommandError || error instanceof InvocationError) return `refused: ${error.message}`;
    throw error;
  }
}

for (const [i, row] of corpus.written.entries()) {
  const options = value(row.options);
  assert(isMap(options));
  Deno.test(`serializer ${row.serializer} writes value ${i} with ${repr(options)} as Salt does`, () => {
    const answer = answerOf(() => SERIALIZERS[row.serializer].serialize(value(row.value), options));
    if ("text" in row) assertEquals(answer, repr(value(row.text)));
    // The words are those of Python's errors.
    else assert(answer.startsWith("refused: "), answer);
  });
}

for (const row of corpus.yamlex) {
  Deno.test(`yamlex of ${JSON.stringify(row.text)} is parsed as Salt parses it`, () => {
    // The corpus has lists for tuples.
    const answer = answerOf(() =>
      decode(encode(toValue(SERIALIZERS.yamlex.deserialize(row.text, new Map())), "disk"), "disk")
    );
    assertEquals(answer, "value" in row ? repr(value(row.value)) : `refused: ${row.error}`);
  });
}

Deno.test("yamlex limits the pairs that merge keys may copy", () => {
  const levels = (count: number) => {
    // Each level copies the pairs of the one inside.
    let text = `{${Array.from({ length: 1_000 }, (_, i) => `k${i}: 1`).join(", ")}}`;
    for (let i = 0; i < count; i++) text = `{<<: ${text}}`;
    return answerOf(() => SERIALIZERS.yamlex.deserialize(text, new Map()));
  };
  assert(levels(3).startsWith("{"), levels(3));
  assertStringIncludes(levels(150), "refused: merging brings more than 100000 pairs");
});

for (const row of corpus.configs) {
  Deno.test(`configparser of ${JSON.stringify(row.text)} is parsed as Salt parses it`, () => {
    const answer = answerOf(() => SERIALIZERS.configparser.deserialize(row.text, new Map()));
    assertEquals(answer, "value" in row ? repr(value(row.value)) : `refused: ${row.error}`);
  });
}

Deno.test("a list that holds tables and numbers is refused as TOML", () => {
  assertThrows(() => SERIALIZERS.toml.serialize(map({ l: [{ a: 1 }, 2] }), new Map()), CommandError, "holds tables");
});

Deno.test("options that a serializer does not know, texts that are none and what a format cannot hold are refused", () => {
  const rows: readonly (readonly [what: () => unknown, message: string])[] = [
    [
      () => SERIALIZERS.json.serialize?.(5, map({ nope: 1 })),
      "The serializer has no option 'nope'; it has sort_keys, indent, ensure_ascii",
    ],
    [() => SERIALIZERS.toml.serialize?.(map({}), map({ nope: 1 })), "it has none"],
    [() => SERIALIZERS.configparser.serialize?.(5, new Map()), "configparser can only serialize dictionaries"],
    [() => SERIALIZERS.configparser.serialize?.(map({ s: { a: null } }), new Map()), "option values must be strings"],
    [
      () => SERIALIZERS.configparser.serialize?.(map({ s: { a: "50%" } }), new Map()),
      "invalid interpolation syntax in '50%'",
    ],
    [() => SERIALIZERS.yaml.deserialize?.(5, new Map()), "Cannot read 5: it is no text"],
  ];
  for (const [what, message] of rows) assertStringIncludes(answerOf(what), message);
});

Deno.test("TOML that is none names its line; tables that are nested without an end are refused", async () => {
  const broken = SERIALIZERS.toml.deserialize?.("a = 1\nb = \n", new Map());
  const error = await assertRejects(() => Promise.resolve(broken), CommandError);
  assertStringIncludes(error.message, "; line 2");
  const nested = (depth: number, wrap: (inner: Value) => Value): Value => {
    let value: Value = map({ end: 1 });
    for (let i = 0; i < depth; i++) value = wrap(value);
    return value;
  };
  const shapes: readonly ((inner: Value) => Value)[] = [
    (inner) => map({ t: inner }),
    (inner) => map({ l: [inner] }),
    (inner) => map({ l: [map({ t: inner })] }),
  ];
  for (const wrap of shapes) {
    const written = (depth: number) => answerOf(() => SERIALIZERS.toml.serialize?.(nested(depth, wrap), new Map()));
    assertStringIncludes(written(20), "end = 1");
    assertEquals(written(450), "refused: TOML tables are nested deeper than 200 levels");
  }
  const inList = map({ l: [nested(300, (inner) => map({ t: inner }))] });
  assertEquals(
    answerOf(() => SERIALIZERS.toml.serialize?.(inList, new Map())),
    "refused: TOML tables are nested deeper than 200 levels",
  );
});

Deno.test("an own serializer that only writes says so when it is to read", async () => {
  const writes = fn({ doc: "", params: { value: p.any() }, run: ({ value }) => `<${str(value)}>` });
  const get = (name: string) => Promise.resolve(name === "serializers/own.serialize" ? writes : undefined);
  const context = testContext();
  const own = await findSerializer("own", { ...context, catalogue: { ...context.catalogue, get } });
  assert(own !== undefined);
  assertEquals(await own.serialize("x", new Map()), "<x>");
  await assertRejects(
    async () => await own.deserialize("x", new Map()),
    CommandError,
    "The serializer own has no function deserialize",
  );
});
