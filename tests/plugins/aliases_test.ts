/**
 * Further names of built-in modules. That Salt 3006.28 lists, documents and runs the functions of `docker` by all three
 * names was seen with its own `salt-call --local`.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { ALIASES } from "#lib/plugins/aliases.ts";
import { execute } from "#lib/plugins/execution.ts";
import { loadFamily, type ModuleTable } from "#lib/plugins/loader.ts";
import { isMap, str } from "#lib/values/value.ts";
import { EXECUTION_MODULES } from "#modules/execution/_built_in.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";
import { STATE_MODULES } from "#modules/states/_built_in.ts";

const TABLE: ModuleTable = {
  web: () => Promise.resolve({ start: { doc: "", params: {}, run: () => "web" } }),
  other: () => Promise.resolve({ start: { doc: "", params: {}, run: () => "other" } }),
};
const aliases = { www: "web", gone: "nothing" };

async function names(options: Parameters<typeof loadFamily>[1]): Promise<string[]> {
  return (await loadFamily<null>(TABLE, { aliases, ...options }).all()).map(({ name }) => name);
}

Deno.test("a module has the same functions by each of its names, and a module that there is not has none", async () => {
  assertEquals(await names({}), ["other.start", "web.start", "www.start"]);
  const family = loadFamily<null>(TABLE, { aliases });
  assertEquals((await family.get("www.start"))?.run({}, null, { args: [], kwargs: new Map() }), "web");
  assertEquals([await family.serves("www"), await family.serves("gone")], [true, false]);
});

Deno.test("a module that is disabled has no other names, and a list of wanted ones names each", async () => {
  assertEquals(await names({ disabled: ["web"] }), ["other.start"]);
  assertEquals(await names({ disabled: ["www"] }), ["other.start", "web.start"]);
  assertEquals(await names({ only: ["web"] }), ["web.start"]);
  assertEquals(await names({ only: ["www"] }), ["www.start"]);
});

Deno.test("a user's module of the name has precedence; one that replaces the module leaves its other names", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/a`);
    Deno.mkdirSync(`${root}/b`);
    Deno.writeTextFileSync(`${root}/a/www.js`, "export const own = { params: {}, run: () => 1 };");
    Deno.writeTextFileSync(`${root}/b/web.js`, "export const own = { params: {}, run: () => 1 };");
    assertEquals(await names({ directories: [`${root}/a`] }), ["other.start", "web.start", "www.own"]);
    assertEquals(await names({ directories: [`${root}/b`] }), ["other.start", "web.own", "www.start"]);
  });
});

Deno.test("each further name stands for a built-in module, and is none itself", () => {
  const tables = { execution: EXECUTION_MODULES, states: STATE_MODULES, returners: RETURNERS };
  for (const family of ["execution", "states", "returners"] as const) {
    for (const [alias, module] of Object.entries(ALIASES[family])) {
      assert(Object.hasOwn(tables[family], module), `${family} has no ${module}`);
      assert(!Object.hasOwn(tables[family], alias), `${family} has ${alias}`);
    }
  }
});

/** The names of functions, without their module. */
async function functionsOf(module: string, list: string): Promise<string[]> {
  const found = await testContext().call(list, [module]);
  assert(Array.isArray(found));
  return found.map((name) => str(name).slice(module.length + 1));
}

for (const [family, list] of [["execution", "sys.list_functions"], ["states", "sys.list_state_functions"]] as const) {
  Deno.test(`${list} has the functions of a module by each name`, async () => {
    for (const [alias, module] of Object.entries(ALIASES[family])) {
      const found = await functionsOf(alias, list);
      assert(found.length > 1);
      assertEquals(found, await functionsOf(module, list));
    }
  });
}

Deno.test("sys.doc and sys.argspec know the further names", async () => {
  const { call } = testContext();
  const docs = await call("sys.doc", ["dockerng.ps", "moby.ps"]);
  assert(isMap(docs));
  assertEquals([...docs.keys()], ["dockerng.ps", "moby.ps"]);
  const specs = [await call("sys.argspec", ["dockerng.ps"]), await call("sys.argspec", ["docker.ps"])];
  const [spec, expected] = specs.map((found) => isMap(found) ? [...found.values()][0] : found);
  assert(isMap(spec));
  assertEquals(spec, expected);
});

Deno.test("a function that such a module has not is refused with the nearest of the same module", async () => {
  const { return: text } = await execute("dockerng.inspect_contaner", [], testContext());
  assertStringIncludes(str(text), "dockerng.inspect_container");
});

Deno.test("states and returners of further names are found", async () => {
  const catalogue = loadCatalogue();
  assert(await catalogue.states.get("moby_container.running") !== undefined);
  assert(await catalogue.states.get("moby_container.mod_watch") !== undefined);
  assert(await catalogue.get("returners/redis_return.returner") !== undefined);
});
