/**
 * docs/mine.md: its configuration, pillar, states and commands on a real fleet.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { isMap, repr, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/mine.md", import.meta.url));

/** The blocks of a language, without their indentation. */
function blocks(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^( *)\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, "gm"))]
    .map(([, indent, text]) => text.split("\n").map((line) => line.slice(indent.length)).join("\n"));
}

/** The block that begins with a comment. */
function named(comment: string): string {
  const found = [...blocks("yaml"), ...blocks("jinja")].find((block) => block.startsWith(`# ${comment}\n`));
  assert(found !== undefined, comment);
  return found;
}

/** Runs the command of a line, and compares what it shows with the comment. */
async function check(fleet: Fleet, line: string): Promise<void> {
  const [command, expected] = line.split(/\s+# (?=[{[])/);
  const [program, ...words] = shlexSplit(command);
  const { out, err } = program === "salt"
    ? await fleet.salt("--static", "--out=json", ...words)
    : await fleet.saltRun("--out=json", ...words);
  assert(expected !== undefined, line);
  assertEquals(repr(parseJson(out === "" ? "null" : out)), repr(parseJson(expected)), `${line}\n${out}${err}`);
}

function configuration(comment: string): Record<string, unknown> {
  const value = loadYaml(named(comment));
  assert(isMap(value));
  return Object.fromEntries([...value].map(([name, each]): [string, Value] => [String(name), each]));
}

Deno.test("the examples of docs/mine.md give what it says", async () => {
  const root = Deno.makeTempDirSync({ prefix: "mine_doc_" });
  try {
    for (const tree of ["salt", "pillar"]) Deno.mkdirSync(`${root}/${tree}`);
    Deno.writeTextFileSync(`${root}/pillar/top.sls`, "base:\n  web1: [web]\n  db1: [db]\n");
    Deno.writeTextFileSync(`${root}/pillar/web.sls`, named("pillar"));
    Deno.writeTextFileSync(`${root}/pillar/db.sls`, "{}\n");
    Deno.writeTextFileSync(`${root}/salt/notes.sls`, named("state"));
    await using fleet = await startFleet({
      minions: ["db1"],
      master: { file_roots: { base: [`${root}/salt`] }, pillar_roots: { base: [`${root}/pillar`] } },
    });
    await fleet.untilServing(["web1"], () => fleet.startMinion("web1", configuration("minion")));
    const lines = blocks("sh").flatMap((block) => block.split("\n")).filter((line) => line !== "");
    assert(lines.length > 15, `${lines.length} lines`);
    for (const line of lines) await check(fleet, line);

    const { out: shown } = await fleet.salt("db1", "state.apply", "notes");
    assertStringIncludes(shown, "ID: from web1");
    assertStringIncludes(shown, "Comment: hello");

    // In pillar the reader is the minion.
    Deno.writeTextFileSync(`${root}/pillar/db.sls`, named("pillar of db1"));
    await check(
      fleet,
      `salt db1 pillar.items unmask=True # {"db1": {"fronts": {"web1": "front"}, "secret": "for databases"}}`,
    );
    Deno.writeTextFileSync(`${root}/pillar/web.sls`, named("pillar of db1"));
    await check(fleet, `salt web1 pillar.items unmask=True # {"web1": {"fronts": {"web1": "front"}, "secret": null}}`);

    // In an orchestration it is the master.
    const orchestration = "{% set found = salt['mine.get']('*', 'role,secret') %}\n" +
      "shown:\n  test.configurable_test_state:\n    - name: {{ found | json }}\n    - comment: 'found {{ found | json }}'\n";
    Deno.writeTextFileSync(`${root}/salt/orch.sls`, orchestration.replace("- name: {{ found | json }}\n    ", ""));
    const { out } = await fleet.saltRun("state.orchestrate", "orch");
    assertStringIncludes(out, `found {"role": {"web1": "front"}}`);

    // What the minion left out, it named.
    assertEquals(fleet.logs.filter((line) => line.includes("[ERROR]")), []);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("the rules of docs/mine.md for mine_get keep what it says from a minion", async () => {
  await using fleet = await startFleet({ minions: ["web1", "db1"], master: configuration("master") });
  await check(fleet, `salt web1 mine.send secret mine_function=test.echo text=x # {"web1": true}`);
  await check(fleet, `salt web1 mine.send role mine_function=test.echo text=front # {"web1": true}`);
  await check(fleet, `salt web1 mine.get web1 secret,role # {"web1": {"role": {"web1": "front"}}}`);
  await check(fleet, `salt db1 mine.get web1 secret # {"db1": {"web1": "x"}}`);
  await check(fleet, `salt-run mine.get web1 role # {}`);
});
