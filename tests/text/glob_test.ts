import { compileGlob, filterGlob, isGlob, matchesGlob } from "#lib/text/glob.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { cpuMs } from "#tests/support/time.ts";
import corpus from "#tests/corpus/glob.json" with { type: "json" };

// corpus/glob.json: every glob with the indices of the texts that match in Python's fnmatch.fnmatchcase.
const globs = corpus.globs as [string, number[]][];

for (const [glob, expected] of globs) {
  Deno.test(`the glob ${JSON.stringify(glob)} matches the same texts as in Python's fnmatch`, () => {
    const matching = corpus.texts.flatMap((text, i) => matchesGlob(glob, text) ? [i] : []);
    assertEquals(matching, expected);
  });
}

Deno.test("a glob with many stars fails quickly", () => {
  const tookMs = cpuMs(() => assertEquals(matchesGlob("*a".repeat(40) + "b", "a".repeat(2_000)), false));
  assert(tookMs < 1_000, `backtracking without bounds: ${tookMs} ms`);
});

Deno.test("a compiled glob is matched with 10,000 ids in a few milliseconds", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => `web${i}.example.com`);
  const matches = compileGlob("web*7?.exam*.com");
  const tookMs = cpuMs(() => assertEquals(ids.filter(matches).length, 1_000));
  assert(tookMs < 500, `${tookMs} ms`);
});

Deno.test("filterGlob() keeps the order of the texts", () => {
  assertEquals(filterGlob("*b", ["web", "a", "db"]), ["web", "db"]);
});

Deno.test("isGlob() distinguishes patterns from plain names", () => {
  assertEquals(["web1", "web*", "w?b", "[w]"].map(isGlob), [false, true, true, true]);
});

Deno.test("a glob of a million open brackets is read at once", () => {
  assertEquals(matchesGlob("[".repeat(1_000_000), "a"), false);
});
