/**
 * The permissions that a custom function declares.
 * @module
 */

import { str } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { CustomModules, soon } from "#tests/support/calls/custom_modules.ts";
import { eventually } from "#tests/support/eventually.ts";

Deno.test("a library cannot extend the permissions of the module that imports it", async () => {
  await using fixture = new CustomModules({
    honest: `import { help } from "../lib/library.js";
      export const f = { run: () => help() };
      export const asks = { permissions: { read: ["/etc/hosts"] }, run: () => help() };`,
  });
  Deno.mkdirSync(`${fixture.root}/ext/lib`);
  // Below the modules directory, which every function may read.
  Deno.mkdirSync(`${fixture.root}/ext/modules/lib`);
  Deno.writeTextFileSync(
    `${fixture.root}/ext/modules/lib/library.js`,
    `Object.prototype.permissions = "all";
     const { entries } = Object;
     Object.entries = (object) => entries(object).map(([key, one]) => {
       if (one && typeof one === "object") try { one.permissions = "all"; } catch { /* frozen */ }
       return [key, one];
     });
     export function help() { return Deno.readTextFileSync("/etc/shadow").length; }`,
  );
  const path = `${fixture.root}/ext/modules/honest.js`;
  Deno.writeTextFileSync(path, Deno.readTextFileSync(path).replace("../lib/library.js", "./lib/library.js"));
  for (const fun of ["honest.f", "honest.asks"]) {
    assertMatch(
      str(await fixture.run(fun)),
      /has the permissions all when it runs, and \S+ in the text of its file|do not allow this/,
      fun,
    );
  }
});

/** Functions whose declaration is not a literal, and the error message. */
const NOT_LITERAL: readonly [fun: string, text: string, message: RegExp][] = [
  [
    "a variable",
    'const ALL = "all"; export const f = { permissions: ALL, run: () => 1 };',
    /"permissions" of f is no literal in line 1 of .*own\.js/,
  ],
  [
    "a shorthand",
    'const permissions = "all"; export const f = { permissions, run: () => 1 };',
    /"permissions" of f is a variable in line 1/,
  ],
  ["made of two", 'export function f() {}\nf.permissions = "al" + "l";', /"permissions" of f is no literal in line 2/],
  [
    "inserted",
    "export const f = { permissions: { read: [`/${1}`] }, run: () => 1 };",
    /"permissions" of f is no literal/,
  ],
  [
    "spread",
    'const all = { permissions: "all" }; export const f = { ...all, run: () => 1 };',
    /own\.f has the permissions all when it runs, and none in the text of its file/,
  ],
  [
    "set by code",
    'export function f() {}\n{ f.permissions = "all"; }',
    /own\.f has the permissions all when it runs, and none in the text/,
  ],
  [
    "in a comment",
    '/* f.permissions = "all"; */ export function f() { return Deno.readTextFileSync("/etc/shadow"); }',
    /do not allow this/,
  ],
  [
    "not the same",
    'export const f = { permissions: { read: true }, run: () => 1 };\nObject.assign(f, { permissions: "all" });',
    /has the permissions all when it runs, and read in the text/,
  ],
];

for (const [what, text, message] of NOT_LITERAL) {
  Deno.test(`permissions that are ${what} count as none, and the error reports that`, async () => {
    await using fixture = new CustomModules({ own: text });
    const outcome = await fixture.job("own.f");
    assertMatch(str(outcome.get("return") ?? null), message);
    assertEquals([outcome.get("retcode"), outcome.get("success")], [1, false]);
  });
}

Deno.test("a custom function called by a built-in one gets no more permissions than the caller", async () => {
  await using fixture = new CustomModules({
    own: `export const f = { permissions: { read: ["/etc/shadow"] }, params: { x: { type: "str" } },
        run: ({ x }) => x + Deno.readTextFileSync("/etc/shadow").length };
      export const g = { params: { x: { type: "str" } }, run: ({ x }) => "got " + x };
      export const slow = { run: () => new Promise(() => {}) };`,
  });
  assertEquals(await fixture.run("test.cross_test", "own.g", ["a=b"]), "got a=b");
  assertStringIncludes(
    str(await fixture.run("test.cross_test", "own.f", ["x"])),
    'Requires read access to "/etc/shadow"',
  );
  assertMatch(str(await fixture.run("own.f", "x")), /^x\d+$/);
  const slow = fixture.start("test.cross_test", ["own.slow"]);
  await eventually(async () => (await fixture.pool.describe()).some((line) => line.includes("running own.slow")), {
    what: "the called function",
  });
  assertEquals(fixture.pool.running().map(({ fun }) => fun), ["test.cross_test"]);
  assertEquals(fixture.pool.signal(slow.jid, 9), true);
  assertEquals((await soon(slow.outcome, "the job")).get("return"), "The job was ended by signal 9");
  await eventually(async () => !(await fixture.pool.describe()).some((line) => line.includes("running")), {
    what: "the end of what was called",
  });
});
