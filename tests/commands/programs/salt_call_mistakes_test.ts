/**
 * Mistakes in trees and pillars, as `salt-call` shows them: each once on a terminal, with its place, and in the log
 * file.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { Fleet } from "#tests/support/fleet/fleet.ts";

const STATES = {
  "requisite": "a: {test.nop: []}\nb:\n  test.nop:\n    - require:\n      - test: aa\n",
  "template": "x:\n  test.nop:\n    - name: {{ grains.foo.bar }}\n",
  "two": "x:\n  file.managed:\n    - contnets: x\n    - requre: [{test: x}]\n",
  "good": "x: test.nop\n",
};

const PILLAR = {
  "top": "base:\n  '*': [p1, p2]\n",
  "p1": "a: {{ grains.foo.one }}\n",
  "p2": "a: {{ grains.foo.two }}\n",
};

/** How often a text is in another. */
function times(text: string, part: string): number {
  return text.split(part).length - 1;
}

Deno.test("salt-call shows a mistake once, with its place and the nearest name; the log file has it too", async () => {
  await using fleet = new Fleet({});
  const [states, pillar] = [`${fleet.root}/srv`, `${fleet.root}/pillar`];
  for (const [directory, files] of [[states, STATES], [pillar, PILLAR]] as const) {
    Deno.mkdirSync(directory);
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${directory}/${name}.sls`, text);
  }
  Deno.mkdirSync(fleet.minionConfigDir("web1"));
  Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/minion`, `root_dir: ${fleet.root}/web1\nid: web1\n`);
  const log = `${fleet.root}/log`;
  const call = (...words: string[]) =>
    fleet.saltCall("web1", "--local", `--file-root=${states}`, `--log-file=${log}`, ...words);
  const logged = () => {
    const text = Deno.readTextFileSync(log);
    Deno.removeSync(log);
    return text;
  };

  const requisite = await call("state.apply", "requisite");
  assertStringIncludes(requisite.out, "in SLS [requisite]\nDid you mean 'test: a'?\nrequisite.sls:5:9\n");
  assertEquals([requisite.err, requisite.code], ["", 1]);
  assertStringIncludes(logged(), "Did you mean 'test: a'?");

  const template = await call("state.apply", "template");
  assertEquals([times(template.out, "has no attribute 'foo'"), template.err], [1, ""]);
  assertStringIncludes(template.out, "template.sls:3:");
  assertStringIncludes(logged(), "has no attribute 'foo'");

  // A program reads the result: what went wrong stays on standard error.
  const json = await call("--out=json", "state.apply", "template");
  assertStringIncludes(json.err, "[ERROR   ] Rendering SLS 'base:template' failed");
  logged();

  const two = await call("state.apply", "two");
  for (const text of ["Did you mean contents?", "Did you mean require?"]) assertStringIncludes(two.out, text);
  logged();

  const wrong = await call(`--pillar-root=${pillar}`, "state.apply", "good");
  assertEquals([times(wrong.out, "grains.foo.one"), times(wrong.out, "grains.foo.two"), wrong.err], [1, 1, ""]);
  assert(!wrong.out.includes("master log"), wrong.out);
  assertEquals(times(logged(), "Pillar render error of web1"), 2);

  const items = await call(`--pillar-root=${pillar}`, "pillar.items");
  assertEquals([times(items.err, "grains.foo.one"), times(items.err, "grains.foo.two")], [1, 1]);
  assertEquals(times(items.err, "[ERROR "), 2);
  logged();

  const nothing = await call("state.apply");
  assertStringIncludes(nothing.out, "matches found. No environment has a file top.sls with states.");
  assertEquals(nothing.err, "");
});
