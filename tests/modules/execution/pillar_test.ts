import { dumpJson } from "#lib/values/json.ts";
import { messageOf } from "#lib/errors.ts";
import type { PillarQuery } from "#lib/plugins/job_context.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "pillar");

function asMap(value: Value | undefined): ValueMap {
  assert(isMap(value));
  return value;
}

const corpus = asMap(
  parseJson(await Deno.readTextFile(new URL("../../corpus/pillar_functions.json", import.meta.url))),
);

Deno.test("pillar.* return the same as Salt's", async () => {
  const cases = corpus.get("cases");
  assert(Array.isArray(cases) && cases.length > 100);
  for (const one of cases) {
    const entry = asMap(one);
    const fun = str(entry.get("fun") ?? null), args = entry.get("args"), kwargs = asMap(entry.get("kwargs"));
    assert(Array.isArray(args));
    const call = testContext({ pillar: asMap(corpus.get("pillar")) }).call(fun, args, kwargs);
    const what = `${fun} ${repr(args)} ${repr(kwargs)}`;
    if (entry.has("raises")) {
      const raised = await call.then(() => "nothing", messageOf);
      assertEquals(raised, str(entry.get("raises") ?? ""), what);
    } else {
      assertEquals(dumpJson(await call), dumpJson(entry.get("return") ?? null), what);
    }
  }
});

/** A minion whose master returns this pillar. */
function minion(fresh: ValueMap, options: Readonly<Record<string, Value>> = {}, showsPillar?: boolean) {
  const queries: PillarQuery[] = [];
  const context = testContext({
    opts: testOpts(options),
    pillar: map({ old: 1 }),
    showsPillar,
    outside: {
      ...testContext().outside,
      pillar: (what) => Promise.resolve((queries.push(what), fresh)),
    },
  });
  return { context, queries };
}

Deno.test("pillar.items requests a new pillar, masked according to the option and the caller", async () => {
  const fresh = map({ k: { n: 5, e: "" }, l: ["s"] });
  const shown = async (kwargs: Record<string, unknown> = {}, ...how: [Record<string, Value>?, boolean?]) =>
    repr(await minion(fresh, ...how).context.call("pillar.items", [], map(kwargs)));
  const masked = "{'k': {'n': '**********', 'e': ''}, 'l': ['**********']}", plain = repr(fresh);
  assertEquals([await shown(), await shown({ unmask: true })], [masked, plain]);
  assertEquals([await shown({}, { pillar_mask_output: false }), await shown({}, {}, true)], [plain, plain]);
  assertEquals(await shown({ unmask: false }, { pillar_mask_output: false }), masked);
  assertEquals(
    repr(await minion(fresh).context.call("pillar.obfuscate")),
    "{'k': {'n': '<int>', 'e': '<str>'}, 'l': ['<str>']}",
  );
  assertEquals(repr(await minion(fresh).context.call("pillar.ls")), "['k', 'l']");
  assertEquals(
    repr(await minion(fresh).context.call("pillar.items", ["old", "nope"])),
    "{'old': '**********', 'nope': ''}",
  );
});

Deno.test("environments, pillar values of the caller and on-demand sources are sent to the master", async () => {
  const { context, queries } = minion(map({ e: 1 }), { pillarenv_from_saltenv: true, saltenv: "qa" });
  await context.call("pillar.items", [], map({ pillar: { a: 1 }, pillarenv: "dev" }));
  await context.call("pillar.get", ["e"], map({ saltenv: "prod" }));
  await context.call("pillar.ext", ["{libvirt: _}"]);
  await context.call("pillar.items");
  assertEquals(
    repr(queries.map(({ override, pillarenv, ext }) => [override ?? null, pillarenv ?? null, ext ?? null])),
    repr([
      [map({ a: 1 }), "dev", null],
      [null, "prod", null],
      [null, "qa", map({ libvirt: "_" })],
      [null, "qa", null],
    ]),
  );
});

Deno.test("a missing key is an error if the option says so, unless there is a default", async () => {
  const { context } = minion(map({}), { pillar_raise_on_missing: true });
  await assertRejects(() => context.call("pillar.get", ["nope"]), Error, "Pillar key not found: nope");
  assertEquals(await context.call("pillar.get", ["nope", null]), null);
});

Deno.test("pillar.items rejects an unknown argument, and a renderer that may not decrypt", async () => {
  const { context } = minion(map({}));
  assertStringIncludes(
    str((await run("pillar.items", ["nope=1"], context)).return),
    "The following keyword arguments are not valid: nope=1",
  );
  const call = context.call("pillar.items", [], map({ pillar: { a: 1 }, pillar_enc: "yaml" }));
  await assertRejects(() => call, Error, "'yaml' is not a valid decryption renderer. Valid choices are: gpg");
});

Deno.test("pillar.data is pillar.items by another name", async () => {
  const context = testContext({ pillar: map({ role: "web", port: 80 }) });
  for (const fun of ["pillar.data", "pillar.items"]) {
    assertEquals(await context.call(fun, ["role"]), map({ role: "**********" }));
  }
});
