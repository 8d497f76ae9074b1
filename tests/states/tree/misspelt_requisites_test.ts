/**
 * Misspelt requisites and other arguments that every state has: they are refused before anything runs.
 * @module
 */

import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { isMap, str } from "#lib/values/value.ts";

/** The functions with an argument that is misspelt, and the argument that is meant. */
const MISSPELT: readonly (readonly [state: string, written: string, meant: string])[] = [
  ["test.nop", "requre: [{test: one}]", "require"],
  ["test.nop", "lisen: [{test: one}]", "listen"],
  ["file.managed", "onchange: [{test: one}]", "onchanges"],
  ["file.managed", "unles: /bin/true", "unless"],
  ["cmd.run", "onlyf: /bin/false", "onlyif"],
  ["cmd.run", "watchin: [{test: one}]", "watch_in"],
  ["cmd.run", "prerq: [{test: one}]", "prereq"],
  ["cmd.run", "onfial_any: [{test: one}]", "onfail_any"],
  ["module.run", "faihard: true", "failhard"],
  ["module.run", "retyr: {attempts: 2}", "retry"],
  ["module.run", "chek_cmd: /bin/true", "check_cmd"],
  ["pkg.installed", "oder: last", "order"],
  ["pkg.installed", "paralel: true", "parallel"],
  ["user.present", "reload_module: true", "reload_modules"],
  ["user.present", "requires: [{test: one}]", "require"],
];

Deno.test("a misspelt requisite is an error of the compiler in every state function, and nothing runs", async () => {
  for (const [state, written, meant] of MISSPELT) {
    const text = `one: {test.succeed_with_changes: []}\ntwo:\n  ${state}:\n  - name: /nowhere\n  - ${written}\n`;
    await using tree = await openTree({ files: { "t.sls": text } });
    const { returned, retcode } = await tree.call("state.apply", ["t"]);
    const shown = Array.isArray(returned) ? returned.map(str).join("\n") : str(returned);
    const argument = written.split(":", 1)[0];
    assertStringIncludes(shown, `unknown argument \`${argument}\` of ${state} in state 'two' in SLS 't'`);
    assertStringIncludes(shown, `Did you mean ${meant}?`);
    assertStringIncludes(shown, "t.sls:5:");
    assertEquals(retcode, 1);
  }
});

Deno.test("a function that takes any argument gets those that look like no argument of every state", async () => {
  const text =
    "one:\n  module.run:\n  - name: test.kwarg\n  - create: true\n  - required: 1\n  - user: root\n  - text: a\n";
  await using tree = await openTree({ files: { "t.sls": text } });
  const { returned } = await tree.call("state.apply", ["t"], { test: true });
  assertEquals(isMap(returned), true, str(returned));
});

Deno.test("misspelt requisites are ignored with state_check_arguments: False", async () => {
  const files = { "t.sls": "one:\n  module.run:\n  - name: test.ping\n  - requre: []\n" };
  await using tree = await openTree({ files, opts: { state_check_arguments: false } });
  const { returned } = await tree.call("state.apply", ["t"], { test: true });
  assertEquals(isMap(returned), true, str(returned));
});
