/**
 * Mistakes in trees and pillars, as `salt-call` shows them: each once on a terminal, with its place, and in the log
 * file.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { Fleet, startFleet } from "#tests/support/fleet/fleet.ts";

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

/** Salt's text about the requisite of `STATES` that is missing. */
const MISSING = "Referenced state does not exist for requisite [require: (test: aa)] in state [b] in SLS [requisite]";

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

  // A program compares the result with Salt's texts: the place stays on standard error.
  const machine = await call("--out=json", "state.apply", "requisite");
  assertEquals(JSON.parse(machine.out), { local: [MISSING] });
  assertStringIncludes(machine.err, "    Did you mean 'test: a'?\n    requisite.sls:5:9\n");
  logged();
  const queried = await call("--query=local[0]", "state.apply", "requisite");
  assertStringIncludes(queried.out, MISSING);
  assert(!queried.out.includes("Did you mean"), queried.out);
  logged();

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

Deno.test("salt shows the place of a mistake below Salt's text, and gives programs the text alone", async () => {
  const root = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${root}/requisite.sls`, STATES.requisite);
    await using fleet = await startFleet({ minions: ["web1", "web2"], master: { file_roots: { base: [root] } } });
    const shown = await fleet.salt("web1", "state.apply", "requisite");
    assertStringIncludes(shown.out, `${MISSING}\n`);
    assertStringIncludes(shown.out, "Did you mean 'test: a'?\n");
    assertStringIncludes(shown.out, "requisite.sls:5:9\n");
    const grouped = await fleet.salt("*", "--group", "state.apply", "requisite");
    assertEquals(times(grouped.out, "requisite.sls:5:9"), 1);
    const json = await fleet.salt("web1", "--out=json", "state.apply", "requisite");
    assertEquals(JSON.parse(json.out), { web1: [MISSING] });
    assertEquals(json.code, shown.code);
    const hidden = await fleet.salt("web1", "--no-log", "state.apply", "requisite");
    assertStringIncludes(hidden.out, MISSING);
    assert(!hidden.out.includes("requisite.sls:5:9"), hidden.out);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("with master_type: func a function that fails or is not there ends the command with its text", async () => {
  await using fleet = new Fleet({});
  Deno.mkdirSync(fleet.minionConfigDir("web1"));
  const call = async (master: string) => {
    const options = { root_dir: `${fleet.root}/web1`, id: "web1", master_type: "func", master };
    Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/minion`, JSON.stringify(options));
    return await fleet.saltCall("web1", "test.ping");
  };
  const absent = await call("no.such");
  assertEquals([absent.code, absent.out], [1, ""]);
  assertStringIncludes(absent.err, "Failed to load module no.such: ");
  const failed = await call("test.exception");
  assertEquals([failed.code, failed.out], [1, ""]);
  assertStringIncludes(failed.err, "Failed to load module test.exception: ");
});
