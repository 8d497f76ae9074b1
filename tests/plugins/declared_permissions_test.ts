/** @module */
import { declaredPermissions } from "#lib/plugins/declared_permissions.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { sourceFiles } from "#scripts/source_files.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

/** Texts of files, and their declaration for `f`: `undefined` for none, `problem` if it cannot be parsed. */
const TEXTS: Readonly<Record<string, readonly [text: string, declared: Permissions | "problem" | undefined]>> = {
  "an object's property": ['export const f = { doc: "x", permissions: { read: ["/etc"], }, run: () => 1 };', {
    read: ["/etc"],
  }],
  "with quotes and as const": [`export const f = { 'permissions': { "net": ['a:1'] } as const };`, { net: ["a:1"] }],
  "with a type": ['export const f: Foo<{ permissions: "all" }> = { permissions: "none" };', "none"],
  "a statement": ['export function f() {}\nf.permissions = "all"', "all"],
  "a statement after another": ["export async function f() {} f.permissions = { run: true };", { run: true }],
  "an exported list": ['const g = { permissions: "all" };\nexport { g as f };', "all"],
  "a reserved name": ['export const f_ = { permissions: "all" };', "all"],
  "of another": ['export const g = { permissions: "all" }; export const f = { run: () => 1 };', undefined],
  "in a parameter": ['export const f = { params: { permissions: "all" }, run: () => 1 };', undefined],
  "in the code": [
    'export const f = { run() { const x = { permissions: "all" }; f.permissions = "all"; } };',
    undefined,
  ],
  "in a block": ['export function f() {}\nif (true) { f.permissions = "all"; }', undefined],
  "in a comment": ['export function f() {}\n// f.permissions = "all"\n/* f.permissions = "all" */', undefined],
  "in a text": [
    'export function f() {}\nconst x = \'f.permissions = "all"\', y = `\nf.permissions = "all"\n`;',
    undefined,
  ],
  "in a regular expression": ['export function f() {}\nconst x = /;f.permissions = "all";/;', undefined],
  "inside what is inserted": [
    'export function f() {}\nconst x = `${(() => { f.permissions = "all"; })()}`;',
    undefined,
  ],
  "of another's field": ['export function f() {}\nx.f.permissions = "all";', undefined],
  "as a part of an expression": ['export function f() {}\nconst x = f.permissions = "all";', undefined],
  "not exported": ['const f = { permissions: "all" };', undefined],
  "from another file": ['export { f } from "./x.js"; const f = { permissions: "all" };', undefined],
  "a variable": ['const P = "all"; export const f = { permissions: P };', "problem"],
  "a shorthand": ['const permissions = "all"; export const f = { permissions };', "problem"],
  "a sum": ['export const f = { permissions: "a" + "ll" };', "problem"],
  "a choice": ['export function f() {}\nf.permissions = "none" || "all";', "problem"],
  "a call on the next line": ['export function f() {}\nf.permissions = "none"\n.replace("none", "all")', "problem"],
  "declared twice": ['export function f() {}\nf.permissions = "none";\nf.permissions = "all";', "problem"],
  "twice in the object": ['export const f = { permissions: "none", permissions: "all" };', "problem"],
  "a template": ["export const f = { permissions: { read: [`/${x}`] } };", "problem"],
  "computed": ['export const f = { permissions: { ["read"]: true } };', "problem"],
  "spread": ["export const f = { permissions: { ...all } };", "problem"],
  "none that there is": ["export const f = { permissions: { everything: true } };", "problem"],
  "one kind twice": ['export const f = { permissions: { read: ["/a"], read: ["/b"] } };', "problem"],
  "too deep": ["export const f = { permissions: { read: [[[['/a']]]] } };", "problem"],
  "cut off": ["export function f() {}\nf.permissions =", "problem"],
  "after a regular expression": [
    '/;f.permissions = "none";/.test("x");\nexport const f = { permissions: "all" };',
    "all",
  ],
  "a set's prototype": ['export const f = { permissions: { __proto__: "all" } };', "problem"],
};
for (const [what, [text, declared]] of Object.entries(TEXTS)) {
  Deno.test(`permissions that are ${what} are ${JSON.stringify(declared) ?? "not there"}`, () => {
    const permissions = declaredPermissions(text).functions.get("f");
    if (declared === "problem") {
      assert(permissions !== undefined && "problem" in permissions, Deno.inspect(permissions));
    } else assertEquals(permissions, declared === undefined ? undefined : { permissions: declared });
  });
}

for (
  const text of [
    'export const f = { permissions: "all"',
    "const x = 'open",
    "/* open",
    "`open",
    "`${ open`",
    "`${open",
    "f(]",
    "\\u0066()",
  ]
) {
  Deno.test(`a text that cannot be parsed declares nothing: ${text}`, () => {
    assertThrows(() => declaredPermissions(text), SyntaxError);
  });
}

Deno.test("a text of more than a million characters declares nothing", () => {
  const text = (letters: number) => `export const f = { permissions: "all" };//${"x".repeat(letters)}`;
  assertEquals(declaredPermissions(text(1_000_000)).functions.get("f"), { permissions: "all" });
  assertThrows(() => declaredPermissions(text(1 << 20)), SyntaxError, "it is longer than 1048576 characters");
});

Deno.test("the exports of a file are known, unless it re-exports another file", () => {
  const text = "export const a = 1, b = 2; export function c() {}";
  assertEquals(declaredPermissions(text).exports, undefined);
  assertEquals(
    declaredPermissions("export const a = () => 1; export async function* c_() {}").exports,
    new Set(["a", "c"]),
  );
  assertEquals(declaredPermissions('export * from "./x.js";').exports, undefined);
});

Deno.test("every source file of this project can be parsed", () => {
  const root = new URL("../..", import.meta.url);
  const files = sourceFiles(decodeURIComponent(root.pathname), ".ts");
  for (const path of files) declaredPermissions(Deno.readTextFileSync(new URL(path, root)));
  assert(files.length > 300);
});
