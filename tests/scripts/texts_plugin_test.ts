import plugin from "#scripts/texts_plugin.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** File, source, and the reported places. */
const CASES: readonly (readonly [file: string, source: string, reported: readonly string[]])[] = [
  ["lib/a.ts", 'a.replace("x", value);', ['a.replace("x", value)']],
  ["lib/a.ts", "a.replaceAll(/x/g, `${value}!`);", ["a.replaceAll(/x/g, `${value}!`)"]],
  ["modules/a.ts", 'a?.b.replace("x", text());', ['a?.b.replace("x", text())']],
  ["master.ts", 'a["replace"]("x", value);', ['a["replace"]("x", value)']],
  ["lib/a.ts", "a.replace(...values);", ["a.replace(...values)"]],
  ["lib/a.ts", 'a.replace("x", "$&y").replaceAll("x", `y`);', []],
  ["lib/a.ts", 'a.replace("x", () => value).replace("x", function () { return value; });', []],
  ["lib/a.ts", "this.#replace(a, b); keeper.replace?.(a, b); location.replace(a);", []],
  ["scripts/a.ts", 'a.replace("x", value); new RegExp(value); new URL(`http://${value}`);', []],
  ["tests/lib/a_test.ts", 'a.replace("x", value); new RegExp(value); new URL(`http://${value}`);', []],

  ["lib/a.ts", "new RegExp(value);", ["new RegExp(value)"]],
  ["lib/a.ts", "RegExp(`^${value}`);", ["RegExp(`^${value}`)"]],
  ["lib/a.ts", "new RegExp('a' + value);", ["new RegExp('a' + value)"]],
  ["lib/a.ts", "new RegExp(escape(value));", ["new RegExp(escape(value))"]],
  ["lib/a.ts", "let part = 'a'; new RegExp(part);", ["new RegExp(part)"]],
  ["lib/a.ts", "function f(part: string) { new RegExp(part); } const part = 'a';", ["new RegExp(part)"]],
  ["lib/a.ts", "(PART: string) => new RegExp(PART);", ["new RegExp(PART)"]],
  ["lib/a.ts", "({ part = 'a' }) => new RegExp(part);", ["new RegExp(part)"]],
  ["lib/a.ts", "const PART = read(); new RegExp(PART);", ["new RegExp(PART)"]],
  ["lib/a.ts", "const { PART } = read(); new RegExp(PART);", ["new RegExp(PART)"]],
  ["lib/a.ts", "for (const part of parts) new RegExp(part);", ["new RegExp(part)"]],
  ["lib/a.ts", "const a = b, b = a; new RegExp(a);", ["new RegExp(a)"]],
  ["lib/a.ts", "new RegExp('a+', flags); new RegExp(/a/, 'g'); new RegExp(`a`);", []],
  ["lib/a.ts", "new RegExp(`^${escapeRegex(value)}` + String.raw`\\s${IMPORTED}`);", []],
  ["lib/a.ts", "const WORD = '[a-z]', line = `${WORD}+`; new RegExp(all ? line : '', 'g');", []],
  ["lib/regex/reader.ts", "new RegExp(value);", []],
  ["lib/other/reader.ts", "new RegExp(value);", ["new RegExp(value)"]],

  ["lib/a.ts", "a.replace(/\\/+$/, '');", ["/\\/+$/"]],
  ["lib/a.ts", "a.replace(/^[ab]+|[ab]*$/g, '');", ["/^[ab]+|[ab]*$/g"]],
  ["lib/a.ts", "/^(\\d+\\.?\\d*)$/.test(a);", ["/^(\\d+\\.?\\d*)$/"]],
  [
    "lib/a.ts",
    "/^ +$/.test(a); /a *$/.test(a); /(?<! ) +$/.test(a); / +$/y.test(a); /^\\d+(?:\\.\\d*)?$/.test(a);",
    [],
  ],
  ["lib/a.ts", "a.match(/[^b]*b|[^b]+$/g);", []],
  ["tests/lib/a_test.ts", "a.replace(/ +$/, '');", []],

  ["lib/a.ts", "new URL(`http://${host}/x`);", ["new URL(`http://${host}/x`)"]],
  ["lib/a.ts", "fetch('http://a/' + name);", ["fetch('http://a/' + name)"]],
  ["lib/a.ts", "new URL(given); fetch(given); new URL('./x', import.meta.url);", []],
  ["lib/a.ts", "fetch(`${SERVER}/${quoteUrlPart(name)}?${encodeURIComponent(name)}`);", []],
  ["lib/plugins/loader.ts", "new URL(`file://${path}`);", []],
];

for (const [file, source, reported] of CASES) {
  Deno.test(`texts in ${file}: ${source}`, () => {
    const diagnostics = Deno.lint.runPlugin(plugin, `/project/${file}`, source);
    assertEquals(diagnostics.map(({ range: [from, to] }) => source.slice(from, to)), reported);
  });
}
