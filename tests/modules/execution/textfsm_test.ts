/**
 * `textfsm` beside Python Salt's, with the templates and texts of tests/corpus/textfsm.json.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { tableOf } from "#lib/host/texts/textfsm_index.ts";
import { readTemplate } from "#lib/host/texts/textfsm_template.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { corpusFile } from "#tests/support/calls/corpus_files.ts";
import { answeringContext, resultOrError, type TestContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const CORPUS = mapOrEmpty(parseJson(Deno.readTextFileSync(corpusFile("textfsm.json"))));

/** Errors of which Python's words are others. */
const OURS: readonly (readonly [theirs: RegExp, ours: RegExp])[] = [
  [/^\[Errno 21\] Is a directory: '\{root\}\/'$/, /^"" is not in the directory of templates$/],
  [/^\[Errno 2\].*\.\.\/secret'$/, /^"\.\.\/secret" is not in the directory of templates$/],
];

function expected(one: ValueMap, answer: Value): Value {
  const theirs = one.get("error") ?? one.get("result") ?? null;
  const replaced = OURS.find(([text]) => typeof theirs === "string" && text.test(theirs));
  return replaced !== undefined && replaced[1].test(str(answer)) ? answer : theirs;
}

/** The keywords of a call in JavaScript's form. */
function keywordsOf(values: Value | undefined): Record<string, unknown> {
  return Object.fromEntries([...mapOrEmpty(values)].map(([key, value]) => [str(key), value]));
}

Deno.test("textfsm.extract reads texts by templates as Python Salt does, and refuses the same templates", async (t) => {
  for (const [i, one] of listOrEmpty(CORPUS.get("extract")).map(mapOrEmpty).entries()) {
    await t.step(
      `${i} ${JSON.stringify(one.get("template")).slice(-60)}`,
      () =>
        withTemporaryDirectory(async (root) => {
          await Deno.writeTextFile(`${root}/template`, str(one.get("template") ?? ""));
          const context = answeringContext({ "cp.cache_file": `${root}/template` });
          const answer = await resultOrError(context, "textfsm.extract", ["salt://template"], {
            raw_text: one.get("text"),
          });
          assertEquals(answer, expected(one, answer));
        }),
    );
  }
});

const INDEX = mapOrEmpty(CORPUS.get("index"));

/** A context in which functions answer with the files of the corpus. */
function indexContext(root: string, one: ValueMap): TestContext {
  const kwargs = mapOrEmpty(one.get("kwargs"));
  const files = [...mapOrEmpty(INDEX.get("files")).keys()].map((name) => `${root}/${str(name)}`).sort();
  const path = kwargs.get("textfsm_path") ?? mapOrEmpty(one.get("pillar")).get("textfsm_path");
  return answeringContext({
    "cp.cache_dir": path === "salt://templates" ? files : [],
    "cp.get_file_str": kwargs.get("output_file") === "salt://text" ? INDEX.get("text") ?? null : false,
  }, {
    opts: testOpts(Object.fromEntries([...mapOrEmpty(one.get("opts"))].map(([key, value]) => [str(key), value]))),
    pillar: mapOrEmpty(one.get("pillar")),
    grains: new Map([["os", "junos"]]),
  });
}

Deno.test("textfsm.index finds the template for a command as Python Salt does", async (t) => {
  for (const [i, one] of listOrEmpty(INDEX.get("calls")).map(mapOrEmpty).entries()) {
    await t.step(
      `${i} ${str(mapOrEmpty(one.get("kwargs")).get("command") ?? "")}`,
      () =>
        withTemporaryDirectory(async (root) => {
          for (const [name, text] of mapOrEmpty(INDEX.get("files"))) {
            await Deno.writeTextFile(`${root}/${str(name)}`, str(text));
          }
          const answer = await resultOrError(
            indexContext(root, one),
            "textfsm.index",
            [],
            keywordsOf(one.get("kwargs")),
          );
          const shown = typeof answer === "string" ? answer.replaceAll(root, "{root}") : answer;
          assertEquals(shown, expected(one, shown));
        }),
    );
  }
});

Deno.test("textfsm.extract says that a template or a text cannot be fetched", async () => {
  const call = (answers: Record<string, Value>, kwargs: Record<string, unknown>) =>
    resultOrError(answeringContext(answers), "textfsm.extract", ["salt://t"], kwargs);
  const refusal = (comment: string) => new Map<Value, Value>([["out", null], ["result", false], ["comment", comment]]);
  assertEquals(
    await call({ "cp.cache_file": false }, {}),
    refusal("Unable to read the TextFSM template from salt://t"),
  );
  await withTemporaryDirectory(async (root) => {
    await Deno.writeTextFile(`${root}/t`, "Value A (\\w+)\n\nStart\n  ^$A -> Record\n");
    const answers = { "cp.cache_file": `${root}/t` };
    assertEquals(
      await call({ ...answers, "cp.get_file_str": false }, { raw_text_file: "salt://x" }),
      refusal("Unable to read from salt://x. Please specify a valid input file or text."),
    );
    assertEquals(await call(answers, {}), refusal("Please specify a valid input file or text."));
    const read = await call({ ...answers, "cp.get_file_str": "b" }, { raw_text_file: "salt://x" });
    assertEquals(mapOrEmpty(read).get("out"), [new Map([["a", "b"]])]);
  });
});

Deno.test("textfsm.index takes the index and the column that are given, which Salt does not", () =>
  withTemporaryDirectory(async (root) => {
    for (const [name, text] of mapOrEmpty(INDEX.get("files"))) {
      await Deno.writeTextFile(`${root}/${str(name)}`, str(text));
    }
    const one = new Map<Value, Value>([["kwargs", new Map([["textfsm_path", "salt://templates"]])]]);
    const answer = await resultOrError(indexContext(root, one), "textfsm.index", ["any"], {
      platform: "acme",
      output: INDEX.get("text"),
      textfsm_path: "salt://templates",
      index_file: "second",
      platform_column_name: "Vendor",
    });
    assertEquals(mapOrEmpty(answer).get("out"), [
      new Map([["host", "r1"], ["model", "mx"]]),
      new Map([["host", "r2"], ["model", "ex"]]),
    ]);
  }));

Deno.test("a column that is filled upwards stays empty where there is nothing to fill it with", async () =>
  await withTemporaryDirectory(async (root) => {
    const template = "Value Fillup A (\\w*)\nValue B (\\w+)\n\nStart\n  ^${A}:${B} -> Record\n";
    await Deno.writeTextFile(`${root}/t`, template);
    const context = answeringContext({ "cp.cache_file": `${root}/t` });
    const read = await resultOrError(context, "textfsm.extract", ["salt://t"], { raw_text: ":1\n:2\nx:3\n:4\n" });
    const rows = listOrEmpty(mapOrEmpty(read).get("out")).map((row) => [...mapOrEmpty(row).values()].join(":"));
    assertEquals(rows, ["x:1", "x:2", "x:3", ":4"]);
  }));

Deno.test("templates for one text need the keys of the first one in all of them", () => {
  const [first, second] = ["Value Key A (\\w+)\nValue B (\\w+)", "Value C (\\w+)"].map((values) =>
    readTemplate(`${values}\n\nStart\n  ^x\n`)
  );
  assertThrows(() => tableOf([first, second], ""), CommandError, "Unknown key: 'A'");
});
