import plugin from "#scripts/docs_plugin.ts";
import { assertEquals } from "#tests/support/assert.ts";

const OPENING = "/**\n * A file.\n * @module\n */\n";

/** Files with a docstring at the top, and the rules with the lines that they report. */
const CASES: readonly (readonly [what: string, source: string, reported: readonly string[]])[] = [
  ["a function with parameters", "export function f(a: number) {}", ["required: export function f(a: number) {}"]],
  ["a function with a docstring", "/** Doubles. */\nexport function f(a: number) {}", []],
  ["a function without parameters", "export function f() {}", []],
  ["a function that is not exported", "function f(a: number) {}", []],
  ["a constant that is a function", "export const f = (a: number) => a;", [
    "required: export const f = (a: number) => a;",
  ]],
  ["another constant", "export const f = 1;", []],
  ["a type", "export interface I {\n  a: number;\n}", []],
  ["a class", "export class C {}", ["required: export class C {}"]],
  ["a method with parameters", "/** Counts. */\nexport class C {\n  add(n: number) {}\n}", [
    "required: add(n: number) {}",
  ]],
  [
    "other members",
    "/** Counts. */\nexport class C {\n  constructor(n: number) {}\n  add() {}\n  #add(n: number) {}\n" +
    "  private put(n: number) {}\n  override set(n: number) {}\n  set count(n: number) {}\n}",
    [],
  ],
  ["a line comment", "// Doubles.\nexport function f(a: number) {}", [
    "required: export function f(a: number) {}",
  ]],
  ["a block comment that is no docstring", "/* Doubles. */\nexport class C {}", ["required: export class C {}"]],
  [
    "a directive between docstring and class",
    "/** Doubles. */\n// deno-lint-ignore no-explicit-any\nexport function f(a: any) {}",
    [],
  ],
  ["a docstring of another declaration", "/** One. */\nconst a = 1;\nexport class C {}", [
    "required: export class C {}",
  ]],
  ["a docstring that repeats the name", "interface I {\n  /** The log. */\n  readonly log: string;\n}", [
    "no-repetition: readonly log: string;",
  ]],
  ["a docstring that repeats the name in another order", "/** Its bytes of a key. */\nconst KEY_BYTES = 1;", [
    "no-repetition: const KEY_BYTES = 1;",
  ]],
  [
    "a docstring that repeats the names of the member and of its owner",
    "interface Job {\n  /** The job's id. */\n  id: string;\n}",
    [
      "no-repetition: id: string;",
    ],
  ],
  ["a docstring that repeats an exported name", "/** A ReadWait. */\nexport class ReadWait {}", [
    "no-repetition: export class ReadWait {}",
  ]],
  ["a docstring that adds one word", "interface I {\n  /** The log of the job. */\n  readonly log: string;\n}", []],
  [
    "a docstring that repeats the name and has a tag",
    "/**\n * The log.\n * @throws {Error} If it is full.\n */\nfunction log() {}",
    [],
  ],
];

for (const [what, source, reported] of CASES) {
  Deno.test(`docstrings, ${what}: ${reported.length === 0 ? "nothing is reported" : "is reported"}`, () => {
    assertEquals(lint(OPENING + source), reported);
    assertEquals(lint(OPENING + source, "tests/a_test.ts"), [], "not in tests");
  });
}

/** Comments below a docstring at the top, and the rules with the places that they report; in tests too. */
const COMMENTS: readonly (readonly [what: string, comment: string, reported: readonly string[]])[] = [
  ["a tag alone", "/** @throws {Error} If it is full. */", []],
  ["tags at the start of lines", "/**\n * Sends.\n * @param to The place.\n *   @throws {Error} If not.\n */", []],
  ["a tag behind text", "/** Sends. @throws {Error} If not. */", ["tag-lines: @throws {Error} If not. */"]],
  ["a tag behind a tag", "/**\n * @param to The place. @returns Whether it was.\n */", [
    "tag-lines: @returns Whether it was.",
  ]],
  ["a tag apart from its word", "/**\n * Sends.\n * @param\n * to The place.\n */", ["tag-lines: @param"]],
  ["code that looks like a tag", "/** Text of `@throws` and of `a\n * @param b`. */", []],
  ["another word with @", "/** A crontab's @daily, an address a@param-b. */", []],
  ["a comment that is no docstring", "/* Sends. @throws {Error} If not. */", []],
  ["a docstring of 120 columns", `/** ${"a ".repeat(55)}ab. */`, []],
  ["a docstring of 121 columns", `/** ${"a ".repeat(56)}a. */`, [`line-width: /** ${"a ".repeat(56)}a. */`]],
  ["a long line in a docstring", `/**\n * Short.\n * ${"a ".repeat(60)}\n */`, [`line-width:  * ${"a ".repeat(60)}`]],
  ["a long line of 120 columns in more bytes", `// ${"…".repeat(58)} ${"…".repeat(58)}`, []],
  ["a long line comment", `// ${"a ".repeat(60)}`, [`line-width: // ${"a ".repeat(60)}`]],
  ["a long comment behind code", `const a = 1; // ${"a ".repeat(60)}`, [`line-width: // ${"a ".repeat(60)}`]],
  ["a long address", `// https://example.com/${"a".repeat(120)}`, []],
  ["a long directive", `// deno-lint-ignore no-explicit-any -- ${"a ".repeat(60)}`, []],
];

for (const [what, comment, reported] of COMMENTS) {
  Deno.test(`comments, ${what}: ${reported.length === 0 ? "nothing is reported" : "is reported"}`, () => {
    assertEquals(lint(`${OPENING}const b = 1;\n${comment}\n`), reported);
    assertEquals(lint(`${OPENING}const b = 1;\n${comment}\n`, "tests/a_test.ts"), reported, "in tests too");
  });
}

Deno.test("docstrings: a file opens with a docstring that has @module", () => {
  assertEquals(lint("const a = 1;").length, 1);
  assertEquals(lint("/** Says. */\nconst a = 1;").length, 1);
  assertEquals(lint(`const a = 1;\n${OPENING}`).length, 1);
  assertEquals(lint(`${OPENING}const a = 1;`), []);
});

function lint(source: string, path = "lib/a.ts"): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map(({ id, range: [start] }) => {
    return `${id.replace("docs/", "")}: ${source.slice(start).split("\n")[0]}`;
  });
}
