import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { type MappedCode, withEagerFunctions } from "#scripts/build/eager_functions.ts";
import { mappingsOf, placesIn } from "#scripts/build/source_map.ts";
import called from "#scripts/build/start_functions.json" with { type: "json" };

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** A file put together from lines of sources, with its mappings. */
function file(lines: readonly (readonly [source: number, line: number, text: string])[]): MappedCode {
  const code = lines.map(([, , text]) => text).join("\n");
  let offset = 0;
  const places = lines.flatMap(([source, line, text]) => {
    const words = [...text.matchAll(/\w+/g)].map(({ index }) => index);
    const places = words.map((column) => ({ offset: offset + column, segment: [source, line, column] }));
    offset += text.length + 1;
    return places;
  });
  return { code, mappings: mappingsOf([{ from: 0, to: code.length }], code, places), sources: ["a.ts", "b.ts"] };
}

/** `word source:line:column` for each word of a text. */
function wordsIn(code: string, mappings: string): string[] {
  return placesIn(mappings, code)
    .map(({ offset, segment }) => `${/^\w+/.exec(code.slice(offset))?.[0]} ${segment.join(":")}`)
    .sort();
}

async function evaluate(code: string): Promise<Record<string, unknown>> {
  return await import(`data:text/javascript,${encodeURIComponent(code)}`);
}

Deno.test("functions that a start calls become variables at the beginning of their file, and the map still has the place of every word", async () => {
  const before = file([
    [0, 3, "export const early = first(1);"],
    [0, 4, "function first(number) { return second(number, (x) => x + 1); }"],
    [1, 9, "async function second$1(list) { for (const item of list) await item; }"],
    [1, 10, "function second(number, change) { return change(number); }"],
    [0, 7, "export { first, second$1, second };"],
  ]);
  const after = withEagerFunctions(before, { "a.ts": ["first"], "b.ts": ["second"] });
  assertMatch(
    after.code,
    /^var first=\(function \(number\) \{ return second\(number, \(\(x\) => x \+ 1\)\); \}\),second\$1=\(async function/,
  );
  assertEquals(wordsIn(after.code, after.mappings), wordsIn(before.code, before.mappings));
  const exports = await evaluate(after.code);
  assertEquals(exports.early, 2);
  const { first } = exports;
  assert(typeof first === "function");
  assertEquals(first.name, "first");
});

Deno.test("functions of other sources, methods and uncalled functions are not changed", () => {
  const code = file([
    [0, 0, "function called() { return { method() {}, get getter() { return 1; }, value: function () {} }; }"],
    [1, 0, "function called$1() {}"],
    [0, 1, "class Kind { method() {} }"],
  ]);
  const after = withEagerFunctions(code, { "a.ts": ["called", "method"] });
  assertEquals(
    after.code,
    "var called=(function () { return { method() {}, get getter() { return 1; }, value: (function () {}) }; });" +
      "\nfunction called$1() {}\nclass Kind { method() {} }",
  );
  assertEquals(withEagerFunctions(code, { "c.ts": ["called"] }), { code: code.code, mappings: code.mappings });
});

Deno.test("mappings are read as they were written, over many lines, also backwards in the sources", () => {
  const text = "ab\n\ncd ef\n";
  const places = [
    { offset: 0, segment: [0, 100_000, 3, 1] },
    { offset: 4, segment: [1, 0, 70] },
    { offset: 7, segment: [0, 2, 0, 0] },
  ];
  const mappings = mappingsOf([{ from: 0, to: text.length }], text, places);
  assertEquals(placesIn(mappings, text), places);
  const turned = mappingsOf([{ from: 7, to: text.length }, "word;", { from: 0, to: 7 }], text, places);
  assertEquals(placesIn(turned, "ef\nword;ab\n\ncd "), [
    { offset: 0, segment: [0, 2, 0, 0] },
    { offset: 8, segment: [0, 100_000, 3, 1] },
    { offset: 12, segment: [1, 0, 70] },
  ]);
  assertEquals(mappingsOf([{ from: 0, to: 2 }], "ab", placesIn("AAAA,CAAC", "ab")), "AAAA,CAAC");
});

Deno.test("nine of ten functions of the list still exist; otherwise run scripts/fleet/start_functions.ts again", () => {
  const texts = new Map<string, string>();
  const textOf = (source: string) => {
    const known = texts.get(source);
    if (known !== undefined) return known;
    let text = "";
    try {
      text = Deno.readTextFileSync(`${ROOT}/${source}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    texts.set(source, text);
    return text;
  };
  const listed = Object.values(called).flatMap((sources) => Object.entries<string[]>(sources));
  const gone = listed.flatMap(([source, names]) =>
    names.filter((name) => !new RegExp(`\\bfunction\\*?\\s+${name.replace("$", "\\$")}\\b`).test(textOf(source)))
      .map((name) => `${source}: ${name}`)
  );
  const count = listed.reduce((sum, [, names]) => sum + names.length, 0);
  assert(count > 500, `${count} functions`);
  assert(gone.length * 10 < count, `these are gone: ${gone.join(", ")}`);
});
