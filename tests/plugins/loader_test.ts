import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { invoke } from "#lib/plugins/call.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import type { Value } from "#lib/values/value.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

/** Runs `test` with a directory that holds `files`. */
async function withFiles(files: Record<string, string>, test: (directory: string) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "loader" });
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(`${directory}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${directory}/${name}`, text);
    }
    await test(directory);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function call(directory: string, name: string, args: Value[] = [], kwargs: Record<string, Value> = {}) {
  const fun = await loadFamily<null>({}, { directories: [directory] }).get(name);
  assert(fun !== undefined, `${name} is there`);
  return invoke(fun, { name, args, kwargs: new Map(Object.entries(kwargs)), context: null });
}

Deno.test("a trailing underscore is removed from a function's name", async () => {
  const catalogue = loadCatalogue();
  assert(await catalogue.get("test.true") !== undefined);
  assertEquals(await catalogue.get("test.true_"), undefined);
});

for (
  const name of [
    "test",
    "test.",
    ".ping",
    "test.nope",
    "nope.ping",
    "constructor.name",
    "test.constructor",
    "test.ping.x",
    "",
  ]
) {
  Deno.test(`the catalogue has no function '${name}'`, async () => {
    assertEquals(await loadCatalogue().get(name), undefined);
  });
}

Deno.test("only the requested module is loaded", async () => {
  const imported: string[] = [];
  const table = Object.fromEntries(["a", "b"].map((name) => [name, () => {
    imported.push(name);
    return Promise.resolve({ f: { doc: "", params: {}, run: () => name } });
  }]));
  const family = loadFamily<null>(table);
  await family.get("a.f");
  await family.get("a.g");
  assertEquals(imported, ["a"]);
  assertEquals((await family.all()).map(({ name }) => name), ["a.f", "b.f"]);
  assertEquals(imported, ["a", "b"]);
});

Deno.test("all() is sorted by name, and every function is documented", async () => {
  const functions = await loadCatalogue().all();
  const names = functions.map(({ name }) => name);
  assertEquals(names, [...names].sort());
  assert(names.includes("test.ping") && names.includes("cmd.run") && names.includes("match.list"));
  assertEquals(functions.filter(({ fun }) => fun.doc.trim() === "").map(({ name }) => name), []);
});

Deno.test("a custom file of plain functions is a module", async () => {
  const text = "export function greet(name, greeting = 'Hello') { return `${greeting}, ${name}!`; }\n" +
    "greet.doc = 'Greets.';\nexport const _hidden = () => 1;\nexport class Thing {}\nexport const number = 7;";
  await withFiles({ "mine.js": text }, async (directory) => {
    assertEquals(await call(directory, "mine.greet", ["you"]), "Hello, you!");
    assertEquals(await call(directory, "mine.greet", ["you", "Hi"]), "Hi, you!");
    const all = await loadFamily<null>({}, { directories: [directory] }).all();
    assertEquals(all.map(({ name, fun }) => [name, fun.doc]), [["mine.greet", "Greets."]]);
  });
});

Deno.test("custom objects with `run` are functions with checked arguments", async () => {
  const text = `export const add = {
    doc: "Adds.",
    params: { a: { type: "int" }, b: { type: "int", default: 1 } },
    run(bound: { a: number; b: number }) { return bound.a + bound.b + this.bias; },
    bias: 100,
  };`;
  await withFiles({ "sums.ts": text }, async (directory) => {
    assertEquals(await call(directory, "sums.add", ["2"], { b: 5 }), 107);
    assertEquals(await call(directory, "sums.add", [2]), 103);
  });
});

const BROKEN: readonly [string, string, string][] = [
  ["does not parse", "export const f = ;", ""],
  ["throws", "throw new Error('not today');", "not today"],
  [
    "has a parameter of no known type",
    "export const f = { params: { a: { type: 'text' } }, run() {} };",
    "f.params.a.type",
  ],
  ["has a run that is no function", "export const f = { run: 1 };", "f.run is not a function"],
  ["has a doc that is no text", "export const f = { doc: ['x'], run() {} };", "f.doc is not a string"],
  ["has parameters that are a text", "export const f = { params: 'a', run() {} };", "f.params is not an object"],
  ["has no parameters but null", "export const f = { params: null, run() {} };", "f.params is not an object"],
  [
    "has a keyword that is no text",
    "export const f = { keywords: [1], run() {} };",
    "f.keywords is not a list of strings",
  ],
  ["has varArgs that are true", "export const f = { varArgs: true, run() {} };", "f.varArgs is not a string"],
];

for (const [what, text, reason] of BROKEN) {
  Deno.test(`a custom file that ${what} is a warning, and the others load`, async () => {
    await withFiles({ "bad.js": text, "good.js": "export const f = () => 1;" }, async (directory) => {
      const warnings: string[] = [];
      const family = loadFamily<null>({}, { directories: [directory], warn: (message) => warnings.push(message) });
      assertEquals((await family.all()).map(({ name }) => name), ["good.f"]);
      assertEquals(await family.get("bad.f"), undefined);
      assertEquals(warnings.length, 1);
      assertStringIncludes(warnings[0], `${directory}/bad.js: ${reason}`);
      assertStringIncludes(family.problems().get("bad") ?? "", reason);
    });
  });
}

Deno.test("of several files with one name the one that is called so is the module, else the first", async () => {
  const text = (what: string) => `export const f = { keywords: ["a"], run: () => "${what}" };`;
  const files = Object.fromEntries(["a", "b", "c", "own"].map((name) => [`${name}.js`, text(name)]));
  await withFiles(files, async (directory) => {
    const renamed = { a: "x", b: "x", c: "own" };
    const family = loadFamily<null>({}, { directories: [directory], renamed });
    const all = await family.all();
    assertEquals(all.map(({ name, fun }) => [name, fun.keywords]), [["own.f", ["a"]], ["x.f", ["a"]]]);
    const results = all.map(({ name, fun }) => invoke(fun, { name, args: [], kwargs: new Map(), context: null }));
    assertEquals(await Promise.all(results), ["own", "a"]);
  });
});

Deno.test("a family whose functions have declarations refuses a file of plain functions", async () => {
  await withFiles({ "bad.js": "export const f = () => 1;" }, async (directory) => {
    const family = loadFamily<null>({}, { directories: [directory], plainFunctions: false });
    assertEquals(await family.get("bad.f"), undefined);
    const reason = 'f is a plain function; it must be an object with "params" and "run"';
    assertStringIncludes(family.problems().get("bad") ?? "", reason);
  });
});

Deno.test("a changed file is read again by a new catalogue", async () => {
  await withFiles({ "v.js": "export const f = () => 1;" }, async (directory) => {
    assertEquals(await call(directory, "v.f"), 1);
    await Deno.writeTextFile(`${directory}/v.js`, "export const f = () => 2;");
    await Deno.utime(`${directory}/v.js`, new Date(), new Date(Date.now() + 5_000));
    assertEquals(await call(directory, "v.f"), 2);
  });
});

Deno.test("extension_modules replace a built-in module of the same name; module_dirs take precedence, the last one over all", async () => {
  const files = {
    "ext/modules/match.js": "export const f = () => 1;",
    "ext/modules/here.js": "export const f = () => 2;",
    "ext/modules/plain.js": "export const f = () => 3;",
    "a/modules/match.js": "export const f = () => 4;",
    "a/modules/here.js": "export const f = () => 5;",
    "a/_modules/below.js": "export const f = () => 6;",
    "b/_modules/here.js": "export const f = () => 7;",
    "b/here.js": "export const f = () => 8;",
  };
  await withFiles(files, async (directory) => {
    const moduleDirs = [`${directory}/a`, `${directory}/b`];
    const catalogue = loadCatalogue({ extensionModules: `${directory}/ext`, moduleDirs });
    assertEquals(await catalogue.get("match.glob"), undefined);
    // A directory that has modules is not searched for _modules.
    assertEquals(await catalogue.get("below.f"), undefined);
    const context = testContext({ catalogue });
    const answers = ["match.f", "here.f", "plain.f"].map((fun) => context.call(fun));
    assertEquals(await Promise.all(answers), [4, 7, 3]);
  });
});

Deno.test("disable_modules and whitelist_modules exclude modules", async () => {
  const modules = async (options: Parameters<typeof loadCatalogue>[0]) =>
    new Set((await loadCatalogue(options).all()).map(({ name }) => name.split(".")[0]));
  assert(!(await modules({ disableModules: ["cmd"] })).has("cmd"));
  assertEquals([...await modules({ whitelistModules: ["test", "sys"] })], ["sys", "test"]);
});
