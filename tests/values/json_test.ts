import { JsonError } from "#lib/errors.ts";
import { dumpJson, type JsonOptions } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { Float, map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";

interface Dumped {
  value: Typed;
  /** The expected text, by the name of the options. */
  json: Record<string, string>;
}

interface Parsed {
  json_text: string;
  /** Absent if Python refuses the text. */
  reads?: Typed;
}

const OPTIONS: Record<string, JsonOptions> = {
  plain: { ensureAscii: false },
  ascii: {},
  indent4: { ensureAscii: false, indent: 4 },
  indent0: { indent: 0 },
};

const corpus = await readCorpus<Dumped | Parsed | { repr: string }>("python_values.json");

for (const [name, options] of Object.entries(OPTIONS)) {
  Deno.test(`dumpJson() writes as Python does: ${name}`, () => {
    for (const entry of corpus) {
      if (!("json" in entry) || entry.json[name] === undefined) continue;
      assertEquals(dumpJson(fromTyped(entry.value), options), entry.json[name]);
    }
  });
}

Deno.test("dumpJson() writes bytes as their repr, as a value and as a key", () => {
  assertEquals(dumpJson(new Map<Value, Value>([[Uint8Array.of(0xff), Uint8Array.of(0x61)]])), `{"b'\\\\xff'": "b'a'"}`);
});

Deno.test("parseJson() accepts and refuses the same texts as Python", () => {
  for (const entry of corpus) {
    if (!("json_text" in entry)) continue;
    const { json_text: text, reads } = entry;
    if (reads === undefined) assertThrows(() => parseJson(text), JsonError, "", text);
    else assertEquals(parseJson(text), fromTyped(reads), text);
  }
});

Deno.test("parseJson() reports the place of an error as Python does", () => {
  assertThrows(() => parseJson('{"a":1 "b"}'), JsonError, "Expecting ',' delimiter: line 1 column 8 (char 7)");
  assertThrows(() => parseJson('[\n"a\\'), JsonError, "Unterminated string starting at: line 2 column 1 (char 2)");
});

Deno.test("parseJson() reads back what dumpJson() wrote", () => {
  const value = map({ b: [1, new Float(1), 1.5, 2n ** 70n, null, true], a: { "10": "é\n\u2028", "2": [] }, "": {} });
  for (const options of Object.values(OPTIONS)) {
    assertEquals(parseJson(dumpJson(value, options)), value);
  }
});

Deno.test("a set becomes Python's text of it, as JSON has none", () => {
  const set = new ValueSet<Value>(["a", 1]);
  assertEquals(dumpJson(map({ s: set }), { indent: 2 }), '{\n  "s": "{\'a\', 1}"\n}');
  assertEquals(dumpJson(new ValueSet<Value>()), '"set()"');
});
