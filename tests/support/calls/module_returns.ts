/**
 * Execution modules, compared with the results of Salt 3008.3 for the same calls: `corpus/modules.json`, made by
 * `corpus/make_modules.py`.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { casesOf, corpusFile, hasCases } from "./corpus_files.ts";
import { testContext, testOpts } from "./job_context.ts";

/** Restores values that JSON cannot express: maps whose keys are not strings. */
function unpack(value: Value): Value {
  if (Array.isArray(value)) return value.map(unpack);
  if (!isMap(value)) return value;
  const pairs = value.get("__pairs__");
  if (!Array.isArray(pairs)) return new Map([...value].map(([key, item]) => [key, unpack(item)]));
  return new Map(pairs.map((pair): [Value, Value] => Array.isArray(pair) ? [pair[0], unpack(pair[1])] : [null, null]));
}

function asMap(value: Value | undefined): ValueMap {
  assert(isMap(value));
  return value;
}

/**
 * Registers a test for each case of `module`.
 * @returns The number of tests.
 */
export function testModuleReturns(module: string): number {
  const file = corpusFile("modules.json");
  if (!hasCases(file, module)) return 0;
  const corpus = asMap(unpack(parseJson(Deno.readTextFileSync(file))));
  const opts = { ...testOpts({ file_client: "local" }), extra: asMap(corpus.get("opts")) };
  const all = corpus.get("cases");
  assert(Array.isArray(all));
  const cases = casesOf(all, module);
  for (const entry of cases) {
    const fun = str(entry.get("fun") ?? null);
    const args = entry.get("args");
    const kwargs = asMap(entry.get("kwargs"));
    assert(Array.isArray(args));
    Deno.test(`${fun} returns what Salt's does for ${repr(args)} ${repr(kwargs)}`, async () => {
      const context = testContext({ opts, grains: asMap(corpus.get("grains")), pillar: asMap(corpus.get("pillar")) });
      const actual = await context.call(fun, args, kwargs);
      assertEquals(dumpJson(actual), dumpJson(entry.get("return") ?? null));
    });
  }
  return cases.length;
}
