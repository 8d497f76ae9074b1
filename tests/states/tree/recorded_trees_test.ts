/**
 * SLS files with unusual features of templates and YAML: the low data or errors equal Salt's
 * (tests/corpus/unusual_trees.json).
 * @module
 */

import { localPillar } from "#lib/minion/local_call/pillar.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";

const corpus = parseJson(await Deno.readTextFile(new URL("../../corpus/unusual_trees.json", import.meta.url)));
assert(isMap(corpus));
const [files, answers] = ["files", "answers"].map((name) => corpus.get(name) ?? null);
assert(isMap(files) && isMap(answers));

const root = await Deno.makeTempDir({ prefix: "unusual_trees_" });
addEventListener("unload", () => Deno.removeSync(root, { recursive: true }));
for (const [name, text] of files) {
  const path = `${root}/${str(name)}`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(path, str(text));
}
const opts = testOpts({
  root_dir: root,
  file_client: "local",
  file_roots: map({ base: [`${root}/salt`] }),
  pillar_roots: map({ base: [`${root}/pillar`] }),
});
const grains = map({ id: "web1", os_family: "Debian", kernel: "Linux" });
const catalogue = loadCatalogue({ grains: () => grains });
const { pillar } = await localPillar(opts, {
  grains,
  catalogue,
  log: SILENT_LOGGER,
  signal: new AbortController().signal,
});

const firstLine = (text: Value): string => str(text).split("\n", 1)[0];

/** Salt reports no line for a text that cannot be tokenized. */
const withoutLine = (text: Value): string => firstLine(text).replace(/; line \d+$/, "");

for (const [sls, answer] of answers) {
  Deno.test(`${str(sls)}: the low data or the errors equal Salt's`, async () => {
    assert(isMap(answer));
    const context = testContext({ opts, grains, catalogue, pillar });
    const { return: made } = await run("state.show_low_sls", [sls], context);
    assert(Array.isArray(made), repr(made));
    const expected = answer.get("low") ?? null, errors = answer.get("errors") ?? null;
    if (Array.isArray(errors)) {
      assertEquals(made.map(withoutLine), errors.map(withoutLine));
    } else {
      assertEquals(repr(made), repr(expected));
    }
  });
}

/** The corpus has cases of both kinds. */
Deno.test("the corpus has low data and errors", () => {
  const kinds = [...answers.values()].map((answer) => [...(answer as ValueMap).keys()].join());
  assertEquals([...new Set(kinds)].sort(), ["errors", "low"]);
});
