/**
 * Target: Jinja templates, which authors of states write and which receive data of minions.
 * @module
 */

import { PythonError } from "#lib/errors.ts";
import { Environment } from "#lib/jinja/core/environment.ts";
import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { jinjaGlobals } from "#lib/jinja/core/globals.ts";
import { Language } from "#lib/jinja/core/language.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import { Func, type Obj } from "#lib/python/object.ts";
import { rangeOf } from "#lib/python/views.ts";
import { mutateText, type Random, textOf } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { randomValue } from "./values.ts";

const NAMES = [
  "a",
  "b",
  "x",
  "loop",
  "self",
  "super",
  "caller",
  "varargs",
  "constructor",
  "__proto__",
  "items",
  "true",
];
const TOKENS: readonly string[] = [
  ..."{{ |}} |{% |%}|{#|#}|{%- |-%}|{%+ |\n|if |elif |else|endif|for |in |endfor|recursive|set |endset|macro |endmacro|call |endcall"
    .split("|"),
  ..."filter |endfilter|block |endblock|extends |include |import |from |as |with |endwith|without context|ignore missing|raw|endraw|do "
    .split("|"),
  ..."break|continue|is |not |and |or |(|)|[|]|{|}|,|:|.|~|+|-|*|//|/|%|**|==|<|=|'|\"|\\|1|0|-3|2.5|1e3|'x'|none|[1, 2]|{'k': 1}|'%s %d'"
    .split("|"),
  ...NAMES,
  ...[...JINJA_FILTERS.keys()].map((name) => `|${name}`),
  ...[...JINJA_TESTS.keys()].filter((name) => /^\w+$/.test(name)).map((name) => `is ${name} `),
  ..."append upper format update pop split join items keys get replace strip sort copy".split(" ").map((name) =>
    `.${name}(`
  ),
];

const language = new Language({ filters: JINJA_FILTERS, tests: JINJA_TESTS });

/** Longer ranges are left out: nested loops over them would rightly take long. */
const RANGE = 5;

/** @returns The variables of the random templates. */
function globals(random: Random): Map<string, Obj> {
  const range = new Func("range", (args) => {
    const made = rangeOf(args);
    return made.count > RANGE ? [] : made;
  });
  const values = NAMES.slice(0, 3).map((name): [string, Obj] => [name, randomValue(random)]);
  return new Map<string, Obj>([...jinjaGlobals(), ["range", range], ...values]);
}

interface Corpus {
  readonly cases: readonly { readonly expression?: string; readonly template?: string }[];
}

/** Templates of any form. */
export const templates: FuzzTarget = {
  name: "templates",
  share: 15,
  refusals: [PythonError],
  open: () => {
    const corpus: Corpus = JSON.parse(Deno.readTextFileSync(new URL("../corpus/jinja_cases.json", import.meta.url)));
    const valid = corpus.cases.map(({ expression, template }) => template ?? `{{ ${expression} }}`);
    return {
      async feed(random, note) {
        const text = random.chance(0.3) ? textOf(random, TOKENS, 30) : mutateText(random, random.pick(valid), TOKENS);
        note(text);
        const environment = new Environment(language, {
          globals: globals(random),
          undefined: random.pick(["strict", "default"]),
          loader: () => ({ text: random.pick(valid) }),
        });
        const rendered = environment.fromString(text).render(new Map());
        hold(typeof await rendered === "string", "no text");
        return "rendered";
      },
      checkService: () =>
        hold(
          new Environment(language, { globals: new Map() }).fromString("{{ 1 }}").render(new Map()) === "1",
          "no text",
        ),
      close: () => hold(Object.keys(Object.prototype).length === 0, "a prototype was changed"),
    };
  },
};
