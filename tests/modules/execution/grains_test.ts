/** @module */
import { YamlError } from "#lib/errors.ts";
import { isMap, map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "grains");

interface Call {
  readonly fun: string;
  readonly args: readonly unknown[];
  readonly kwargs: Record<string, unknown>;
  readonly return: unknown;
  readonly file: string;
}

interface Sequence {
  readonly file: string | null;
  readonly grains: Record<string, unknown>;
  readonly calls: readonly Call[];
}

const { sequences }: { readonly sequences: readonly Sequence[] } = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/grains_setting.json", import.meta.url)),
);

function mapOf(value: Value): ValueMap {
  assert(isMap(value));
  return value;
}

function grainsOf(text: string | null): ValueMap {
  try {
    const grains = text === null ? null : loadYaml(text);
    return isMap(grains) ? grains : new Map();
  } catch (error) {
    if (error instanceof YamlError) return new Map();
    throw error;
  }
}

for (const [i, { file, grains, calls }] of sequences.entries()) {
  Deno.test(`functions that change grains return and write the same as Salt's, sequence ${i + 1}`, () =>
    withTemporaryDirectory(async (root) => {
      const opts = testOpts({ root_dir: root, file_client: "local" });
      Deno.mkdirSync(opts.config_dir, { recursive: true });
      const path = `${opts.config_dir}/grains`;
      if (file !== null) Deno.writeTextFileSync(path, file);
      const context = testContext({ opts, grains: new Map([...mapOf(toValue(grains)), ...grainsOf(file)]) });
      for (const { fun, args, kwargs, return: expected, file: after } of calls) {
        const what = `grains.${fun} ${JSON.stringify(args)} ${JSON.stringify(kwargs)}`;
        const result = await context.call(`grains.${fun}`, args.map(toValue), mapOf(toValue(kwargs)));
        if (JSON.stringify(expected).includes("Unable to read")) {
          assert(String(mapOf(result).get("comment")).startsWith("Unable to read existing grains file: "), what);
        } else assertEquals(result, toValue(expected), what);
        assertEquals(Deno.readTextFileSync(path), after, what);
      }
    }));
}

Deno.test("a grain that was set is loaded by the minion, with or without the pillar", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root });
    Deno.mkdirSync(opts.config_dir, { recursive: true });
    const refreshed: string[] = [];
    const { outside } = testContext();
    const refresh = (what: string) => {
      refreshed.push(what);
      return Promise.resolve(true);
    };
    const context = testContext({ opts, outside: { ...outside, refresh } });
    await context.call("grains.setval", ["role", "web"]);
    await context.call("grains.setval", ["role", "db"], new Map([["refresh_pillar", false]]));
    assertEquals(refreshed, ["grains", "pillar", "grains", "modules"]);
  }));

Deno.test("grains.item rejects a delimiter that is not a text", async () => {
  assertStringIncludes(
    String((await run("grains.item", ["os", "delimiter=[1]"])).return),
    "ERROR executing 'grains.item'",
  );
});

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("grains.setval sets a grain for this job if the file of grains cannot be written", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({}, { root_dir: root, file_client: "local" });
    assertEquals(await resultOrError(context, "grains.setval", ["role", "web"]), map({ role: "web" }));
    const { config_dir } = context.opts;
    assert(
      context.logged.some((line) => line.startsWith(`error: Unable to write to grains file at ${config_dir}/grains.`)),
    );
    assertEquals(context.grains.get("role"), "web");
  });
});
