/**
 * The names under which custom modules are found, listed and documented.
 * @module
 */

import { isMap, map, str } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { CustomModules } from "#tests/support/calls/custom_modules.ts";

Deno.test("sys.doc and sys.argspec list custom functions, also if another module hangs or fails", async () => {
  await using fixture = new CustomModules({
    own:
      `export const f = { doc: "Does.", params: { a: { type: "int" }, b: { type: "str", default: "x" } }, run: () => 1 };`,
    bad: "throw new Error('not today');",
  });
  const docs = await fixture.run("sys.doc", "own");
  assert(isMap(docs));
  assertStringIncludes(str(docs.get("own.f") ?? null), "Does.");
  const spec = await fixture.run("sys.argspec", "own.f");
  assertEquals(spec, map({ "own.f": map({ args: ["a", "b"], defaults: ["x"], varargs: null, kwargs: null }) }));
  assertMatch(str(await fixture.run("bad.f")), /^'bad.f' is not available. Possible reasons: '.*bad.js: not today'$/);
  assertEquals(await fixture.run("sys.list_functions", "test.ping"), ["test.ping"]);
});

Deno.test("a custom module whose loading ends the process is named as the reason why no custom function is listed", async () => {
  await using fixture = new CustomModules({
    dying: "Promise.reject(new Error('blue')); await new Promise(() => {});",
    own: "export const f = () => 1;",
  });
  assertEquals(await fixture.run("own.f"), 1);
  assertEquals(await fixture.run("sys.list_functions", "own"), []);
  const described = await fixture.pool.describeCustom();
  assert(isMap(described) && isMap(described.get("problems")));
  assertStringIncludes(str(described.get("problems") ?? null), "The module's process ended: ");
});

Deno.test("a custom module that replaces a built-in one is treated as custom", async () => {
  await using fixture = new CustomModules({ match: "export function glob() { return Deno.pid; }" });
  const pid = await fixture.run("match.glob");
  assert(typeof pid === "number" && pid !== Deno.pid, "it ran in the minion");
});

Deno.test("a custom module is available under its virtual name, or reports why it is not", async () => {
  const virtual = (what: string) => `export const virtual = ${what};\n`;
  await using fixture = new CustomModules(
    {
      mypkg: virtual('{ name: "pkg", serves: [{ grains: { os: ["Debian"] }, otherwise: "not here" }] }') +
        "export const f = () => 'mine';",
      other_pkg: virtual('{ name: "pkg", serves: [{ grains: { os: ["Arch"] }, otherwise: "not here" }] }') +
        "export const f = () => 'other'; f.permissions = 'all';",
      second_pkg: virtual('{ name: "pkg" }') + "export const f = () => 'second'; f.permissions = 'all';",
      elsewhere: virtual('{ serves: [{ grains: { os: ["Arch"] }, otherwise: "only on Arch" }] }') +
        "export const f = () => 'elsewhere';",
      test: virtual('{ serves: [{ programs: ["no-such-program"], otherwise: "no program" }] }') +
        "export const f = () => 1;",
      reader: virtual('{ serves: [{ unlessHost: { paths: ["/nowhere"] }, otherwise: "nowhere" }] }') +
        "export const f = () => 'read';",
      missing: virtual('{ serves: [{ unlessHost: { paths: ["/etc/passwd"] }, otherwise: "accounts" }] }') +
        "export const f = () => 1;",
      unclear: virtual("make()") + "export const f = () => 1;",
      chosen: "export const f = () => 'chosen';",
    },
    { providers: new Map([["service", "chosen"]]) },
    map({ os: "Debian" }),
  );
  assertEquals(await fixture.run("pkg.f"), "mine");
  assertEquals(await fixture.run("service.f"), "chosen");
  // Of several files with one virtual name, the first that serves this host is the module.
  assertEquals(await fixture.run("second_pkg.f"), "'second_pkg.f' is not available.");
  assertEquals(await fixture.run("mypkg.f"), "'mypkg.f' is not available. Did you mean pkg.f?");
  assertEquals(await fixture.run("elsewhere.f"), "'elsewhere' __virtual__ returned False: only on Arch");
  assertEquals(await fixture.run("test.ping"), "'test' __virtual__ returned False: no program");
  assertEquals(await fixture.run("reader.f"), "read");
  assertEquals(await fixture.run("missing.f"), "'missing' __virtual__ returned False: accounts");
  assertStringIncludes(str(await fixture.run("unclear.f")), `"virtual" is no literal in line 1 of ${fixture.root}`);
  const modules = await fixture.run("sys.list_modules");
  assert(Array.isArray(modules));
  assertEquals(["pkg", "service", "mypkg", "elsewhere", "test", "unclear"].filter((name) => modules.includes(name)), [
    "pkg",
    "service",
  ]);
});

Deno.test("a custom module that the options leave out, or whose file cannot be read, is not there; the others are", async () => {
  const text = "export const f = () => 'here';";
  for (const [option, names] of [["disable_modules", ["off"]], ["whitelist_modules", ["on", "odd", "gone"]]] as const) {
    const options = { [option]: [...names] };
    await using fixture = new CustomModules({ on: text, off: text, odd: "export const f = (;" }, options);
    Deno.symlinkSync("nowhere", `${fixture.root}/ext/modules/gone.js`);
    await fixture.pool.reload();
    assertEquals(await fixture.run("on.f"), "here");
    for (const fun of ["off.f", "odd.f", "gone.f"]) {
      assertStringIncludes(str(await fixture.run(fun)), `'${fun}' is not available.`);
    }
  }
});
