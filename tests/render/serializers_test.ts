import corpus from "../corpus/serializers.json" with { type: "json" };
import { CommandError, InvocationError } from "../../lib/errors.ts";
import { SERIALIZERS } from "../../lib/render/serializers.ts";
import { isMap, map, repr, type Value } from "../../lib/values/value.ts";
import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { fromTyped, type Typed } from "../support/typed_values.ts";

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
    const found = answerOf(() => SERIALIZERS[row.serializer].serialize(value(row.value), options));
    if ("text" in row) assertEquals(found, repr(value(row.text)));
    // The words are those of Python's errors.
    else assert(found.startsWith("refused: "), found);
  });
}

for (const row of corpus.yamlex) {
  Deno.test(`yamlex of ${JSON.stringify(row.text)} is parsed as Salt parses it`, () => {
    const found = answerOf(() => SERIALIZERS.yamlex.deserialize(row.text, new Map()));
    assertEquals(found, "value" in row ? repr(value(row.value)) : `refused: ${row.error}`);
  });
}

for (const row of corpus.configs) {
  Deno.test(`configparser of ${JSON.stringify(row.text)} is parsed as Salt parses it`, () => {
    const found = answerOf(() => SERIALIZERS.configparser.deserialize(row.text, new Map()));
    assertEquals(found, "value" in row ? repr(value(row.value)) : `refused: ${row.error}`);
  });
}

Deno.test("a list that holds tables and numbers is refused as TOML", () => {
  assertThrows(() => SERIALIZERS.toml.serialize(map({ l: [{ a: 1 }, 2] }), new Map()), CommandError, "holds tables");
});
