/** @module */
import { isMap, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { YamlError } from "#lib/errors.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

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
