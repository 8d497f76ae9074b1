/** The fields of `str.format`: what CPython 3.11 makes of them. */

import { PythonError } from "#lib/errors.ts";
import { Environment } from "#lib/jinja/core/environment.ts";
import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { Language } from "#lib/jinja/core/language.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import type { Obj } from "#lib/python/object.ts";
import { assertEquals } from "#tests/support/assert.ts";

const BEFORE_END = "expected '}' before end of string", UNMATCHED = "unmatched '{' in format spec";
const ONLY = "Only '.' or '[' may follow ']' in format field specifier";

const FIELDS: readonly (readonly [template: string, made: string])[] = [
  ["{a[b}", BEFORE_END],
  ["{a[b", BEFORE_END],
  ["{0[a}]", BEFORE_END],
  ["{a", BEFORE_END],
  ["{a{b}}", "unexpected '{' in field name"],
  ["{a!", "end of string while looking for conversion specifier"],
  ["{a!r", UNMATCHED],
  ["{a!}", UNMATCHED],
  ["{a!r:", UNMATCHED],
  ["{a:{b}", UNMATCHED],
  ["{a!rx}", "expected ':' after conversion specifier"],
  ["{a!:5}", "expected ':' after conversion specifier"],
  ["{a!\u{1f600}}", "Unknown conversion specifier \u{1f600}"],
  ["{a[b]c}", ONLY],
  ["{a[x]y[z]}", ONLY],
  ["{a[b].}", "Empty attribute in format string"],
  ["{a[]}", "Empty attribute in format string"],
  ["{", "Single '{' encountered in format string"],
  ["{:}}", "Single '}' encountered in format string"],
  ["{a]}", "'a]'"],
  ["{a[}]}", "1"],
  ["{a[:]}{a[!]}", "34"],
  ["{a[x][z]:>{b}}", "  5"],
  ["{!r}{!s:>3}", "0  1"],
];

const language = new Language({ filters: JINJA_FILTERS, tests: JINJA_TESTS });

function format(template: string): string {
  const a = new Map<Obj, Obj>([["}", 1], ["b", 2], [":", 3], ["!", 4], ["x", new Map<Obj, Obj>([["z", 5]])]]);
  const variables = new Map<string, Obj>([["template", template], ["a", a]]);
  const environment = new Environment(language, { globals: new Map(), undefined: "strict" });
  try {
    return String(environment.fromString("{{ template.format(0, 1, a=a, b=3) }}").render(variables));
  } catch (error) {
    if (error instanceof PythonError) return error.message;
    throw error;
  }
}

for (const [template, made] of FIELDS) {
  Deno.test(`str.format of ${JSON.stringify(template)} makes, or says: ${made}`, () => {
    assertEquals(format(template), made);
  });
}
