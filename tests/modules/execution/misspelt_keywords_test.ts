/**
 * Keywords of functions that take any: what looks like a misspelt argument is refused before the function runs.
 * @module
 */

import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { InvocationError } from "#lib/errors.ts";
import { refuseMisspelt } from "#lib/plugins/keywords.ts";
import { map, type Value } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";

const grains = map({ id: "m1", os: "Debian", os_family: "Debian", kernel: "Linux" });
const catalogue = loadCatalogue({ grains: () => grains });

/** The error of a call by an operator. */
async function errorOf(
  fun: string,
  args: readonly Value[],
  kwargs: Readonly<Record<string, unknown>>,
): Promise<string> {
  const context = testContext({ grains, catalogue });
  const { error } = await run(fun, [...args, map({ __kwarg__: true, ...kwargs })], context);
  return error?.message ?? "";
}

Deno.test("functions of pkg and cp refuse keywords that look misspelt, and a test mode that they do not have", async () => {
  const calls: [fun: string, args: Value[], kwargs: Record<string, unknown>, text: string][] = [
    [
      "pkg.install",
      ["nosuchpkg"],
      { tset: true },
      "pkg.install has no test mode ('tset'); it did nothing",
    ],
    [
      "pkg.install",
      ["nosuchpkg"],
      { test: true },
      "pkg.install has no test mode ('test'); it did nothing",
    ],
    [
      "pkg.install",
      ["nosuchpkg"],
      { fromrepoo: "x" },
      "pkg.install takes no argument 'fromrepoo'; did you mean fromrepo?",
    ],
    ["pkg.install", ["nosuchpkg"], { verson: "1" }, "pkg.install takes no argument 'verson'; did you mean version?"],
    [
      "pkg.remove",
      ["nosuchpkg"],
      { tset: true },
      "pkg.remove has no test mode ('tset'); it did nothing",
    ],
    ["pkg.purge", ["nosuchpkg"], { test: true }, "pkg.purge has no test mode ('test'); it did nothing"],
    [
      "cp.get_file",
      ["salt://a", "/nowhere/x"],
      { makedir: true },
      "cp.get_file takes no argument 'makedir'; did you mean makedirs?",
    ],
    [
      "cp.get_dir",
      ["salt://a", "/nowhere"],
      { salenv: "base" },
      "cp.get_dir takes no argument 'salenv'; did you mean saltenv?",
    ],
  ];
  for (const [fun, args, kwargs, text] of calls) assertEquals(await errorOf(fun, args, kwargs), text, fun);
});

Deno.test("functions of pkg take keywords that are close to nothing, and those of the publication", async () => {
  assertEquals(await errorOf("pkg.version", ["nosuchpkg"], { zzz: 1, versions_as_list: true, __pub_jid: "1" }), "");
  assertEquals(await errorOf("pkg.version", ["nosuchpkg"], { test: false }), "");
});

Deno.test("pkg.upgrade has no test mode", async () => {
  const upgrade = await catalogue.get("pkg.upgrade");
  assert(upgrade !== undefined);
  // Not called: it would upgrade this host.
  const refusal = assertThrows(() => refuseMisspelt(upgrade, map({ test: true }), "pkg.upgrade"), InvocationError);
  assertEquals(refusal.message, "pkg.upgrade has no test mode ('test'); it did nothing");
});
