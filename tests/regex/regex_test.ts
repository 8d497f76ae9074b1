import { RegexError } from "#lib/errors.ts";
import { regexWithFlags, splitByRegex } from "#lib/regex/replace.ts";
import { MAX_PATTERN_LENGTH, pythonRegex } from "#lib/regex/regex.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { cpuMs } from "#tests/support/time.ts";
import corpus from "#tests/corpus/regex.json" with { type: "json" };

// corpus/regex.json: every pattern with what Python's re.match found in each text, or null if Python refuses the
// pattern.
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
    const matches = corpus.texts.flatMap((text, i): [number, string][] => {
      const match = regex.match(text);
      return match === undefined ? [] : [[i, match]];
    });
    assertEquals(matches, expected);
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
  Deno.test(`the pattern ${pattern}, which Python accepts, is refused with a reason`, () => {
    assertThrows(() => pythonRegex(pattern), RegexError, word);
  });
}

Deno.test("a pattern matches only at the start, unless it is a search", () => {
  assertEquals(pythonRegex("eb").test("web"), false);
  assertEquals(pythonRegex("eb|w$").test("xxw"), false);
  assert(pythonRegex("eb", { search: true }).test("web"));
});

Deno.test("a pattern above the length limit is refused", () => {
  assertThrows(() => pythonRegex("a".repeat(MAX_PATTERN_LENGTH + 1)), RegexError, "characters");
});

// Most of these take exponential time in JavaScript's engine and in Python's.
const EVIL = [
  ["(a+)+$", false],
  ["(a|a)*$", false],
  ["(a|aa)+$", false],
  ["(.*)*b", false],
  ["(\\w+\\s?)*$", false],
  ["(?:a?){50}a{50}b", false],
  [".*.*.*.*.*.*.*.*b", false],
  ["^(?=(a+)+$)", false],
  ["(?!(a+)+$)", true],
  ["((a*)*)*!", true],
  ["(([a-z]+-?)+\\.)+org", false],
] as const;
for (const [pattern, expected] of EVIL) {
  Deno.test(`the pattern ${pattern} is quick on a hostile id`, () => {
    const tookMs = cpuMs(() => assertEquals(pythonRegex(pattern).test(`${"a".repeat(254)}!`), expected));
    assert(tookMs < 2_000, `${tookMs} ms`);
  });
}

Deno.test("a pattern whose backreferences take too many steps is an error", () => {
  const regex = pythonRegex("(a*)(a*)(a*)(a*)\\4\\3\\2\\1b");
  const tookMs = cpuMs(() => void assertThrows(() => regex.test("a".repeat(255)), RegexError, "steps"));
  assert(tookMs < 5_000, `${tookMs} ms`);
});

for (
  const [pattern, problem] of [
    ["(".repeat(50_000), "deep"],
    [`${"(".repeat(500)}a${")".repeat(500)}`, "deep"],
    ["((a{1000}){1000}){1000}", "steps"],
    ["a{99999999}", "steps"],
    ["(){999999999}", "steps"],
    ["(?<=a+)b", "fixed-width"],
  ]
) {
  Deno.test(`the pattern ${pattern.slice(0, 30)} (${pattern.length} long) is refused for exceeding a limit`, () => {
    assertThrows(() => pythonRegex(pattern), RegexError, problem);
  });
}

Deno.test("a list of three thousand ids is a valid expression", () => {
  const ids = Array.from({ length: 3_000 }, (_, i) => `web${i}.example.org`);
  const regex = pythonRegex(`(${ids.join("|")})$`);
  assert(regex.test("web2999.example.org") && !regex.test("web3000.example.org"));
});

Deno.test("a very large character set is parsed quickly or refused", () => {
  const tookMs = cpuMs(() => {
    assert(pythonRegex(`[${"\\d".repeat(30_000)}]`).test("1"));
    const chars = Array.from({ length: 30_000 }, (_, i) => String.fromCodePoint(0x4e00 + i));
    assertThrows(() => pythonRegex(`(?i)[${chars.join("")}]`), RegexError, "256");
    assertThrows(() => pythonRegex(chars.map((char) => `[\\w${char}]`).join("").slice(0, 60_000)), RegexError, "256");
  });
  assert(tookMs < 10_000, `${tookMs} ms`);
});

Deno.test("a billion repetitions of an empty group are quick", () => {
  assert(pythonRegex("(?:){999999999}(?:|){3}a").test("a"));
});

Deno.test("a text that is too long for a search is refused at once", () => {
  const regex = pythonRegex("(?:a?){2000}b", { search: true });
  const tookMs = cpuMs(() => void assertThrows(() => regex.test("a".repeat(200_000)), RegexError));
  assert(tookMs < 5_000, `${tookMs} ms`);
});

Deno.test("errors of a pattern have Python's words and Python's position", () => {
  const wrong = corpus.refused.flatMap(([pattern, expected]) => {
    try {
      pythonRegex(pattern, { search: true });
      return [`${pattern}: read`];
    } catch (error) {
      const message = error instanceof RegexError ? error.problem : String(error);
      return message === expected || message.includes("not supported")
        ? []
        : [`${pattern}: ${message}, and not ${expected}`];
    }
  });
  assertEquals(wrong, []);
});

for (const [pattern, text, parts] of corpus.splits as [string, string, (string | null)[]][]) {
  Deno.test(`${JSON.stringify(text)} is split at ${JSON.stringify(pattern)} as by Python`, () => {
    assertEquals(splitByRegex(regexWithFlags(pattern, 0), text), parts);
  });
}

Deno.test("in a long text all matches are found, with references and without", () => {
  const filler = "x".repeat(2_000_000);
  const text = `ab${filler}ab`;
  assertEquals(splitByRegex(regexWithFlags("(?:a|z)(?:b|y)", 0), text).length, 3);
  // More steps and places than are kept as bits.
  assertEquals(splitByRegex(regexWithFlags("(?:y{2000}|a)b", 0), `ab${"x".repeat(200_000)}ab`).length, 3);
  assertEquals(splitByRegex(regexWithFlags("(?:(a)|(q))(?:b|y)(?:\\1)?", 0), `ab${"x".repeat(1_000)}aba`).length, 7);
});
