import { RegexError } from "../lib/errors.ts";
import { MAX_PATTERN_LENGTH, pythonRegex } from "../lib/regex.ts";
import { assert, assertEquals, assertThrows } from "./assert.ts";
import corpus from "./corpus/regex.json" with { type: "json" };

// corpus/regex.json: every pattern with what Python's re.match found in each text, or null where Python refuses it.
const patterns = corpus.patterns as [string, [number, string][] | null][];

for (const [pattern, expected] of patterns) {
  if (expected === null) {
    Deno.test(`the pattern ${JSON.stringify(pattern)} is refused, as by Python`, () => {
      assertThrows(() => pythonRegex(pattern), RegexError);
    });
    continue;
  }
  Deno.test(`the pattern ${JSON.stringify(pattern)} matches what Python's re matches`, () => {
    const regex = pythonRegex(pattern);
    const found = corpus.texts.flatMap((text, i): [number, string][] => {
      const match = regex.exec(text);
      return match === null ? [] : [[i, match[0]]];
    });
    assertEquals(found, expected);
  });
}

for (
  const [pattern, word] of [
    ["(?>a)", "atomic"],
    ["a++", "possessive"],
    ["(a)(?(1)b|c)", "conditional"],
    ["(?L)a", "L"],
    ["\\N{BULLET}", "\\N"],
  ]
) {
  Deno.test(`the pattern ${pattern}, which Python takes, is refused with a word about why`, () => {
    assertThrows(() => pythonRegex(pattern), RegexError, word);
  });
}

Deno.test("a named group can be read from the match", () => {
  assertEquals(pythonRegex("(?P<kind>[a-z]+)(?P<number>\\d+)").exec("web12")?.groups?.number, "12");
});

Deno.test("a pattern matches at the start only, unless it is a search", () => {
  assertEquals(pythonRegex("eb").test("web"), false);
  assertEquals(pythonRegex("eb|w$").test("xxw"), false);
  assert(pythonRegex("eb", { search: true }).test("web"));
});

Deno.test("a pattern beyond the bound is refused", () => {
  assertThrows(() => pythonRegex("a".repeat(MAX_PATTERN_LENGTH + 1)), RegexError, "characters");
});
