import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { asDocstring, collectDocs, describe, selects, stripRst } from "#lib/plugins/docs.ts";
import { isMap } from "#lib/values/value.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "sys");

const NAMES = ["sys.doc", "sys.list_functions", "sysctl.get", "test.ping"];

for (
  const [selector, expected] of [
    ["sys", ["sys.doc", "sys.list_functions"]],
    ["sys.", ["sys.doc", "sys.list_functions"]],
    ["sys.doc", ["sys.doc"]],
    ["sys*", ["sys.doc", "sys.list_functions", "sysctl.get"]],
    ["*.list_*", ["sys.list_functions"]],
    ["", NAMES],
    ["nope", []],
  ] as const
) {
  Deno.test(`the selector '${selector}' chooses ${expected.length} of ${NAMES.length} functions`, () => {
    assertEquals(NAMES.filter(selects(selector)), [...expected]);
  });
}

Deno.test("describe() ends with an example for each call", () => {
  assertEquals(describe("Text.", "a.b 1", "a.c"), "Text.\n\nCLI Example:\n\n    salt '*' a.b 1\n    salt '*' a.c");
});

const DOCSTRING = "\n    Text.\n\n    CLI Example:\n\n        salt '*' a.b\n    ";

for (
  const [what, doc] of [
    ["text as this project writes it", "Text.\n\nCLI Example:\n\n    salt '*' a.b"],
    ["a docstring as Python has it", DOCSTRING],
    ["a docstring that begins on its first line", "Text.\n\n    CLI Example:\n\n        salt '*' a.b\n"],
  ] as const
) {
  Deno.test(`asDocstring() lays out ${what}`, () => assertEquals(asDocstring(doc), DOCSTRING));
}

Deno.test("stripRst() removes the directives of reStructuredText", () => {
  const rst = "Text.\n\n.. code-block:: bash\n\n    salt\n\n.. note::\n    x\n\n.. versionadded:: 2014.7.0";
  assertEquals(stripRst(rst), "Text.\n\n    salt\n\nNote:\n    x\n\nNew in version 2014.7.0");
});

Deno.test("collectDocs() returns all functions without selectors, otherwise in the order of the selectors", () => {
  const functions = NAMES.map((name) => ({ name, fun: { doc: name } }));
  assertEquals([...collectDocs(functions, []).keys()], NAMES);
  assertEquals([...collectDocs(functions, ["test", "sys.doc", "nope"]).keys()], ["test.ping", "sys.doc"]);
});

Deno.test("sys.doc documents the requested functions", async () => {
  const context = testContext();
  const docs = await context.call("sys.doc", ["test.ping", "sys.*_modules"]);
  assert(isMap(docs));
  assertEquals([...docs.keys()], ["test.ping", "sys.list_modules", "sys.list_state_modules", "sys.reload_modules"]);
  assertStringIncludes(String(docs.get("test.ping")), "        salt '*' test.ping");
  const all = await context.call("sys.doc");
  assert(isMap(all) && all.size > 80);
});

Deno.test("every documentation has a CLI Example, or a reason why it has none", async () => {
  const functions = await testContext().catalogue.all();
  assertEquals(functions.filter(({ fun }) => !fun.doc.includes("CLI Example:")).map(({ name }) => name), []);
});

Deno.test("sys.list_modules, sys.list_functions and sys.argspec agree", async () => {
  const context = testContext();
  const functions = await context.call("sys.list_functions");
  const modules = await context.call("sys.list_modules");
  const specs = await context.call("sys.argspec");
  assert(Array.isArray(functions) && Array.isArray(modules) && isMap(specs));
  assertEquals([...specs.keys()], functions);
  assertEquals([...new Set(functions.map((name) => String(name).split(".")[0]))], modules);
});

Deno.test("sys.reload_modules makes the minion reload its modules", async () => {
  const refreshes: string[] = [];
  const { outside } = testContext();
  const context = testContext({
    outside: { ...outside, refresh: (what) => Promise.resolve(refreshes.push(what) > 0) },
  });
  assertEquals(await context.call("sys.reload_modules"), true);
  assertEquals(refreshes, ["modules"]);
});
