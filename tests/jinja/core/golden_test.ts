import { Environment } from "#lib/jinja/core/environment.ts";
import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { jinjaGlobals } from "#lib/jinja/core/globals.ts";
import { Language } from "#lib/jinja/core/language.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import type { Obj } from "#lib/python/object.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The output of Salt's render_jinja_tmpl. */
interface Case {
  readonly name: string;
  readonly tpl: string;
  readonly expected: { readonly ok?: string };
}

const golden: { files: Record<string, string>; cases: Case[] } = JSON.parse(
  await Deno.readTextFile(new URL("../../corpus/jinja.json", import.meta.url)),
);

/** Features beyond the language: Salt's functions, filters, tests, tags, and its printing of values. */
const OF_SALT =
  /salt|tojson|yaml|\|json|import_json|to_bool|is list|raise\(|^\{\{ \{'k': 'a\\nb'\} \}\}$|\|unique \}\}|pillar\.nope|^line1/;

const language = new Language({ filters: JINJA_FILTERS, tests: JINJA_TESTS, options: { keepTrailingNewline: true } });

const cases = golden.cases.filter(({ tpl }) => !OF_SALT.test(tpl));

Deno.test("a minimum number of Salt's cases runs without Salt", () => assertEquals(cases.length, 36));

for (const { name, tpl, expected } of cases) {
  Deno.test(`a template gives the result of Salt: ${name}`, () => {
    const globals = new Map<string, Obj>([
      ...jinjaGlobals(),
      ["pillar", map({ nginx: { server: { name: "web", port: 8080 }, list: ["a", "b"], mode: "0600" } })],
      ["grains", map({ os: "Debian" })],
      ["tplroot", "nginx"],
    ]);
    const loader = (file: string) => Object.hasOwn(golden.files, file) ? { text: golden.files[file] } : undefined;
    const environment = new Environment(language, { globals, loader, undefined: "strict" });
    assertEquals(environment.fromString(tpl).render(new Map()), expected.ok);
  });
}
