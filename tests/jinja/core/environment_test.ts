import { CommandError, PythonError } from "#lib/errors.ts";
import { TemplateError } from "#lib/jinja/syntax/template_error.ts";
import { Environment, type EnvironmentSetup } from "#lib/jinja/core/environment.ts";
import { framesOf } from "#lib/jinja/core/errors.ts";
import { JINJA_FILTERS } from "#lib/jinja/core/filters.ts";
import { jinjaGlobals } from "#lib/jinja/core/globals.ts";
import { Language } from "#lib/jinja/core/language.ts";
import type { Tag } from "#lib/jinja/syntax/parser.ts";
import { JINJA_TESTS } from "#lib/jinja/core/tests.ts";
import { native } from "#lib/python/native.ts";
import { Func, type Obj, PyObject, type Run } from "#lib/python/object.ts";
import { toPlain } from "#lib/python/plain.ts";
import { strOf } from "#lib/python/repr.ts";
import { Tuple, ValueSet } from "#lib/values/tuple.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";

/** A filter that returns its value asynchronously. */
const later: Run = ([value]) => Promise.resolve(value);

const language = new Language({
  filters: new Map([...JINJA_FILTERS, ["later", later]]),
  tests: new Map<string, Run>([...JINJA_TESTS, ["later_odd", ([value]) => Promise.resolve(value === 1)]]),
});

/** A module of the host whose functions are looked up asynchronously. */
class Host extends PyObject {
  readonly typeName = "host";

  override getitem(key: Obj): Promise<Obj | undefined> {
    const name = strOf(key);
    const known = name === "echo" || name === "_own";
    return Promise.resolve(known ? new Func(name, ([value]) => Promise.resolve(value)) : undefined);
  }

  override getattr(name: string): Promise<Obj | undefined> {
    return this.getitem(name);
  }

  override contains(item: Obj): Promise<boolean> {
    return Promise.resolve(item === "echo");
  }
}

function environment(setup: Partial<EnvironmentSetup> = {}): Environment {
  const fail = native("fail", [], () => {
    throw new CommandError("no luck");
  });
  const globals = new Map<string, Obj>([...jinjaGlobals(), ["host", new Host()], ["fail", new Func("fail", fail)]]);
  return new Environment(language, { globals, undefined: "strict", ...setup });
}

const FILES: Record<string, string> = {
  macros: "{% macro m(x) %}<{{ x|later }}{{ caller() if caller is defined }}>{% endmacro %}{% set v = 3|later %}",
  base: "{{ 'h'|later }}{% block b %}base{{ 1|later }}{% endblock %}",
  inc: "inc{{ q|later }}",
  broken: "{% broken %}",
  plain: "plain",
};

const files = (name: string) => {
  if (name.startsWith("late")) return Promise.resolve(undefined);
  return Object.hasOwn(FILES, name) ? Promise.resolve({ text: FILES[name] }) : undefined;
};

/** Templates with asynchronous values in every possible position. */
const WAITING: readonly (readonly [template: string, text: string])[] = [
  ["{{ 1|later + 2|later }}{{ (3|later)|string ~ 'x' }}{{ -(1|later) }}{{ not (0|later) }}", "33x-1True"],
  [
    "{{ [1|later, 2] }}{{ (1, 2|later) }}{{ {'a'|later: 1|later} }}{{ 'ab'[1|later] }}{{ [1, 2, 3][1|later:] }}",
    "[1, 2](1, 2){'a': 1}b[2, 3]",
  ],
  [
    "{{ 'x' if 1|later else 'y' }}{{ (0|later) or 2 }}{{ (0|later) and 2 }}{{ 1 < (2|later) < 3 }}{{ 1|later == 1 }}",
    "x20TrueTrue",
  ],
  ["{% if 0|later %}a{% elif 1|later %}b{% else %}c{% endif %}d", "bd"],
  ["{% for x in [1, 2, 3]|later %}{{ x|later }}{% if x|later == 2 %}{% break %}{% endif %},{% endfor %}", "1,2"],
  [
    "{% for x in [1, 2, 1] if x is later_odd %}{{ loop.index }}{{ loop.last }}{{ loop.length }} {% endfor %}",
    "1False2 2True2 ",
  ],
  ["{% for x in [[1, [[2, []]]]] recursive %}{{ x[0]|later }}({{ loop(x[1]) }}){% endfor %}", "1(2())"],
  ["{% for x in []|later %}{% else %}none{{ 1|later }}{% endfor %}", "none1"],
  [
    "{% set a, b = [1, 2]|later %}{{ a }}{{ b }}{% set t %}x{{ 1|later }}{% endset %}{{ t }}{% set u | later | upper %}x{% endset %}{{ u }}",
    "12x1X",
  ],
  [
    "{% with a = 1|later %}{{ a }}{% endwith %}{% filter later|upper %}a{{ 'b'|later }}{% endfilter %}{% do 1|later %}",
    "1AB",
  ],
  ["{% from 'macros' import m, v %}{{ m(2) }}{{ v }}{% call m(1|later) %}c{{ 5|later }}{% endcall %}", "<2>3<1c5>"],
  ["{% import 'macros'|later as lib with context %}{{ lib.m(lib.v) }}", "<3>"],
  [
    "{% macro m(a, b=1|later) %}{{ a }}{{ b }}{% endmacro %}{{ m(0) }}{{ m(0, b=5|later) }}{{ m(*[7|later]) }}",
    "010571",
  ],
  [
    "{% extends 'base'|later %}{% block b %}own{{ super() }}{{ self.b|default('') is callable }}{% endblock %}",
    "hownbase1True",
  ],
  ["{% set q = 4 %}{% include 'inc' %}{% include ['none', 'inc'] %}{% include 'none' ignore missing %}", "inc4inc4"],
  [
    "{{ [1, 2]|map('later')|list }}{{ [1, 2]|select('later_odd')|list }}{{ host['echo'](5) }}{{ host.echo(6) }}",
    "[1, 2][1]56",
  ],
  [
    "{{ 'echo' in host }}{{ 'nope' in host }}{{ 'nope' not in host }}{{ host.nope is defined }}{{ host['nope'] is defined }}",
    "TrueFalseTrueFalseFalse",
  ],
  ["{{ 2 in ([1, 2]|map('abs')) }}{{ 3 in ([1, 2]|map('abs')) }}{{ 2 in one }}{{ 5 in one }}", "TrueFalseTrueFalse"],
  ["{{ one == same }}{{ one == other }}{{ one == [1, 2] }}{{ one != other }}", "TrueFalseFalseTrue"],
  ["{% for x in [1, 2, 1, 1] if x is later_odd %}{{ loop.length }}{{ x|later }}{% endfor %}", "313131"],
  ["{% for x in [1, 2] %}{{ x|later }}{% break %}{% endfor %}{% for x in [1, 2]|later %}{% break %}{% endfor %}", "1"],
  ["{{ host._nope is defined }}", "False"],
  ["{% for x in [1, 2, 1] if x is later_odd %}{{ x }}{% endfor %}", "11"],
  [
    "{% include ['late', 'later still', 'plain'] ignore missing %}{% include ['late', 'late'] ignore missing %}",
    "plain",
  ],
];

for (const [template, text] of WAITING) {
  Deno.test(`a template awaits asynchronous values: ${template}`, async () => {
    const sets = new Map<string, Obj>([["one", new ValueSet<Obj>([1, 2])], ["same", new ValueSet<Obj>([2, 1])], [
      "other",
      new ValueSet<Obj>([1]),
    ]]);
    assertEquals(await environment({ loader: files }).fromString(template).render(sets), text);
  });
}

/** What must be known at once, and what a template may not have: the error, late or at once. */
const REFUSED: readonly (readonly [template: string, message: string])[] = [
  [
    "{% for x in [1, 1, 1] if x is later_odd %}{{ loop }}{% endfor %}",
    "the length of this loop is not known without waiting",
  ],
  ["{{ 'echo' is in host }}", "'host' object cannot be searched at once"],
  ["{{ '{0[echo]}'.format(host) }}", "a field of a format string cannot wait for a function"],
  ["{% set l = [2, 1] %}{% do l.sort(key=wait) %}", "the key of sort cannot wait for a function"],
  ["{{ host._own }}", "access to attribute '_own' of 'host' object is unsafe."],
  ["{% include ['broken', 'inc'] %}", "Encountered unknown tag 'broken'."],
  ["{% include ['late', 'late'] %}", "none of the templates given were found: late, late"],
  ["{% include ['none', 'none'] %}", "none of the templates given were found: none, none"],
];

for (const [template, message] of REFUSED) {
  Deno.test(`a template fails where something must be known at once, or is not to be had: ${template}`, async () => {
    const wait = new Func("wait", ([value]) => Promise.resolve(value));
    const rendered = () => environment({ loader: files }).fromString(template).render(new Map([["wait", wait]]));
    const error = await assertRejects(async () => await rendered(), PythonError);
    assertEquals(error.message, message);
  });
}

/** Where Python makes a complex number, or takes all memory. */
const BOUNDS: readonly (readonly [expression: string, type: string])[] = [
  ["(2 ** 2000000) * (2 ** 2000000) * (2 ** 2000000)", "MemoryError"],
  ["2 ** 5000000", "MemoryError"],
  ["(-8) ** 0.5", "ValueError"],
  ["lipsum(n=100000, min=99, max=100)", "MemoryError"],
  ["('f' * 100001)|int('x', 16) + 1", "TypeError"],
  ["deep|tojson", "ValueError"],
];

Deno.test("what a template would make without an end is refused", () => {
  let deep: Obj = [];
  for (let i = 0; i < 600; i++) deep = [deep];
  for (const [expression, type] of BOUNDS) {
    const made = environment().fromString(`{{ ${expression} }}`);
    assertEquals(assertThrows(() => made.render(new Map([["deep", deep]])), PythonError, "", expression).type, type);
  }
});

Deno.test("a copy of a large dict has all its keys, and stays one of its own", () => {
  const large = new Map<Obj, Obj>(Array.from({ length: 500 }, (_, i) => [`k${i}`, i]));
  const text =
    "{% set c = m.copy() %}{% do c.pop('k1') %}{{ c|length }}/{{ m|length }}/{{ c.k499 }}/{{ c.copy()|length }}";
  assertEquals(environment().fromString(text).render(new Map([["m", large]])), "499/500/499/499");
});

Deno.test("what a host's function throws goes on as it is, whatever it is; an error of a tag likewise", async () => {
  const f = new Func("f", () => Promise.reject("a text"));
  const rendered = environment({ globals: new Map([["f", f]]) }).fromString("{{ f() }}").render(new Map());
  assertEquals(await Promise.resolve(rendered).catch((error) => error), "a text");
  const refuse: Tag = () => {
    throw new CommandError("no such tag today");
  };
  const own = new Language({ filters: JINJA_FILTERS, tests: JINJA_TESTS, tags: new Map([["refuse", refuse]]) });
  assertThrows(
    () => new Environment(own, { globals: new Map() }).fromString("{% refuse %}"),
    CommandError,
    "no such tag",
  );
});

Deno.test("a template without asynchronous values renders synchronously", () => {
  assertEquals(environment().fromString("{% for x in range(3) %}{{ x }}{% endfor %}").render(new Map()), "012");
});

Deno.test("an error of a host function is thrown unchanged, with its positions: the innermost first", async () => {
  const loader = () => ({ text: "\n{% macro m() %}\n {{ fail() }}{% endmacro %}", path: "/srv/lib" });
  const rendered = environment({ loader }).fromString("{% import 'lib' as l %}\n{{ l.m() }}", "top");
  const error = assertThrows(() => rendered.render(new Map()), CommandError);
  assertEquals(framesOf(error), [
    { name: "lib", path: "/srv/lib", line: 3, column: 9, statementLine: 3 },
    { name: "top", path: undefined, line: 2, column: 7, statementLine: 2 },
  ]);
  const late = environment({
    globals: new Map([["f", new Func("f", () => Promise.reject(new CommandError("late")))]]),
  });
  const failed = await assertRejects(
    () => Promise.resolve(late.fromString("a\n{{ 1 + f() }}").render(new Map())),
    CommandError,
  );
  assertEquals(framesOf(failed), [{ name: undefined, path: undefined, line: 2, column: 9, statementLine: 2 }]);
});

Deno.test("the error of an undefined name lists the known names", () => {
  const template = environment().fromString("{{ piller }}");
  const error = assertThrows(() => template.render(new Map<string, Obj>([["pillar", null]])), TemplateError);
  assertEquals([error.type, error.missing?.name], ["UndefinedError", "piller"]);
  assert(error.missing?.among().includes("pillar"));
  const ofMap = assertThrows(
    () => environment().fromString("{{ x.prot }}").render(new Map([["x", map({ port: 1 })]])),
    TemplateError,
  );
  assertEquals(ofMap.missing?.among(), ["port"]);
});

Deno.test("parts of the rendered text map to their positions, those of includes to their files", async () => {
  const template = environment({ loader: files }).fromString(
    "a\n{% if true %}\n b: {{ 1 }}\n{% endif %}{% include 'inc' %}",
    "top",
  );
  const { text, pieces } = await template.renderMapped(new Map<string, Obj>([["q", 7]]));
  assertEquals(text, "a\n\n b: 1\ninc7");
  assertEquals(pieces.map(({ offset, name, line, column, literal }) => [offset, name, line, column, literal]), [
    [0, "top", 1, 1, true],
    [2, "top", 2, 14, true],
    [7, "top", 3, 8, false],
    [8, "top", 3, 12, true],
    [9, "inc", 1, 1, true],
    [12, "inc", 1, 7, false],
  ]);
});

Deno.test("finalize gets every printed value, also constants, but no text of the template", () => {
  const finalize = (value: Obj): Obj => `<${strOf(value)}>`;
  assertEquals(
    environment({ finalize }).fromString("a{{ 1 }}{{ 'x' }}{% set q = 2 %}{{ q ~ '' }}").render(new Map()),
    "a<1><x><2>",
  );
});

Deno.test("a tag of an extension reads its own syntax and calls its function", () => {
  const twice: Tag = (parser) => {
    const { line, column } = parser.stream.next();
    const arg = parser.parseExpression();
    parser.stream.expect("name:as");
    const target = parser.parseAssignTarget();
    const node = {
      type: "HostCall" as const,
      name: "twice",
      run: ([value]: readonly Obj[]) => [value, value],
      args: [arg],
      line,
      column,
    };
    return [{ type: "Assign", target, node, line, column }];
  };
  const own = new Language({ filters: JINJA_FILTERS, tests: JINJA_TESTS, tags: new Map([["twice", twice]]) });
  assertEquals(
    new Environment(own, { globals: new Map() }).fromString("{% twice 1 + 1 as x %}{{ x }}").render(new Map()),
    "[2, 2]",
  );
});

Deno.test("a template uses the globals that exist when its rendering starts", async () => {
  const globals = new Map<string, Obj>([["tpl", "top"]]);
  const loader = (name: string, env: Environment) => {
    env.globals.set("tpl", name);
    return { text: "{% set seen = tpl %}" };
  };
  const template = new Environment(language, { globals, loader }).fromString(
    "{% import 'a' as a %}{{ tpl }}{{ a.seen }}{% import 'a' as b %}{{ b.seen }}",
  );
  assertEquals(await template.render(new Map()), "topaa");
});

/** Names that exist on JavaScript objects, but not in templates. */
const NAMES = [
  "constructor",
  "__proto__",
  "prototype",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "__defineGetter__",
  "length",
  "size",
  "then",
];

Deno.test("no name of JavaScript's objects is an attribute, an item or a variable", () => {
  const objects: Obj[] = ["x", 1, 1.5, [], new Map(), null, true, new Uint8Array(1)];
  for (const name of NAMES) {
    for (const object of objects) {
      for (const expression of [`x.${name}`, `x['${name}']`, `x|attr('${name}')`]) {
        const template = environment().fromString(`{{ (${expression}) is defined }}`);
        assertEquals(template.render(new Map([["x", object]])), "False", `${expression} of ${object}`);
      }
    }
    assertEquals(environment().fromString(`{{ ${name} is defined }}`).render(new Map()), "False");
    const text = environment().fromString(
      `{% set ${name} = 1 %}{% set d = {} %}{% do d.update({'${name}': 2}) %}{{ ${name} }}{{ d.${name} }}`,
    );
    assertEquals(text.render(new Map()), "12", name);
  }
  assertEquals(Object.keys(Object.prototype), []);
});

/** Templates that would not end or would fill the memory, and the limit that stops them. */
const ENDLESS: readonly (readonly [template: string, type: string])[] = [
  ["{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "RecursionError"],
  ["{% include 'self' %}", "RecursionError"],
  ["{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}", "RecursionError"],
  ["{% extends 'self' %}", "RecursionError"],
  ["{{ range(10 ** 9) }}", "OverflowError"],
  ["{{ 'x' * 10 ** 9 }}", "MemoryError"],
  ["{{ [0] * 10 ** 8 }}", "MemoryError"],
  ["{{ 10 ** (10 ** 8) }}", "MemoryError"],
  ["{% set x = [1] %}{% for y in x %}{% do x.extend(x) %}{% endfor %}", "MemoryError"],
  [
    "{% set x = namespace(t='x' * 1000000) %}{% for y in range(100) %}{% set x.t = x.t ~ x.t %}{{ x.t }}{% endfor %}",
    "MemoryError",
  ],
  ["{{ '%1000000000d' % 1 }}", "ValueError"],
  ["{{ 'x'.ljust(10 ** 9) }}", "MemoryError"],
  ["{{ '{:1000000000}'.format(1) }}", "ValueError"],
];

for (const [template, type] of ENDLESS) {
  Deno.test(`an endless template is stopped with an error: ${template}`, () => {
    const own = environment({ loader: () => ({ text: template }) });
    const error = assertThrows(() => own.fromString(template).render(new Map()), PythonError);
    assertEquals(error.type, type);
    assert(error.message !== "");
  });
}

const LOOPS: readonly string[] = [
  "{% for a in range(100000) %}\n{% for b in range(100000) %}{% endfor %}{% endfor %}",
  "\n{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(100) }}",
  "{% for a in range(100000) if a < 0 %}{% endfor %}",
  "{% for a in [1, 2] recursive %}{% if loop.depth < 100 %}{{ loop([1, 2]) }}{% endif %}{% endfor %}",
  "{% for a in [1, 2] %}{% include 'self' %}{% endfor %}",
  "{% for a in range(600) %}{% set x = 'x'.upper() ~ ('x'|lower) ~ (1 is odd) %}{% endfor %}",
];

Deno.test("the steps of a template are limited, also in what it calls", () => {
  for (const template of LOOPS) {
    const own = environment({ maxSteps: 2_000, loader: (name) => ({ text: name === "self" ? LOOPS[0] : "" }) });
    const error = assertThrows(() => own.fromString(template, "a.sls").render(new Map()), PythonError);
    assertEquals(error.message, "the template takes more than 2000 steps (passes of loops, and calls)");
    assert(framesOf(error)[0].line > 0);
    // Each rendering begins anew.
    for (let i = 0; i < 3; i++) own.fromString("{% for a in range(1500) %}{% endfor %}").render(new Map());
  }
});

Deno.test("too deep nesting is an error of the template, not of the program", () => {
  const deep = 5_000;
  const texts = [
    `{{ ${"(".repeat(deep)}1${")".repeat(deep)} }}`,
    `{{ ${"[".repeat(deep)}${"]".repeat(deep)} }}`,
    `{{ ${"not ".repeat(deep)}1 }}`,
    `{{ ${"-".repeat(deep)}1 }}`,
    `{{ ${"x[".repeat(deep)}1${"]".repeat(deep)} }}`,
    "{% if 1 %}".repeat(deep) + "{% endif %}".repeat(deep),
  ];
  for (const text of texts) {
    assertEquals(assertThrows(() => environment().fromString(text), TemplateError).kind, "syntax");
  }
  const list = environment().fromString(
    "{% set x = namespace(v=[]) %}{% for i in range(20000) %}{% set x.v = [x.v] %}{% endfor %}{{ x.v }}",
  );
  assertEquals(assertThrows(() => list.render(new Map()), PythonError).type, "RecursionError");
});

Deno.test("a long chain of operators or filters does not count as nesting", () => {
  assertEquals(environment().fromString(`{{ ${"1 + ".repeat(500)}1 }}`).render(new Map()), "501");
  assertEquals(environment().fromString(`{{ 'a'${"|upper".repeat(200)} }}`).render(new Map()), "A");
  const error = assertThrows(
    () => environment().fromString(`{{ ${"1 + ".repeat(50_000)}1 }}`).render(new Map()),
    PythonError,
  );
  assertEquals(error.type, "RecursionError");
});

Deno.test("a hundred thousand spaces are stripped in one pass", () => {
  const blanks = " ".repeat(300_000);
  assertEquals(
    environment().fromString(`a${blanks}b${blanks}{%- if 1 %}${blanks}{%- endif %}`).render(new Map()),
    `a${blanks}b`,
  );
});

Deno.test("one compiled template renders for several environments at the same time", async () => {
  const text = "{% set t | later %}{{ q }}{% endset %}{% filter later %}{{ q|later }}{{ t }}{% endfilter %}";
  const rendered = await Promise.all([1, 2, 3].map((q) => environment().fromString(text).render(new Map([["q", q]]))));
  assertEquals(rendered, ["11", "22", "33"]);
});

Deno.test("toPlain() converts a template's objects to values", () => {
  const taken = new Map<string, Obj>();
  const take = new Func("take", ([value]) => {
    taken.set("value", value);
    return null;
  });
  environment().fromString(
    "{% do take({'t': (1, 2), 'm': 'x'|e, 'k': {'a': 1}.items(), 'g': [1]|map('string'), 'n': none}) %}",
  )
    .render(new Map([["take", take]]));
  assertEquals(
    toPlain(taken.get("value") ?? null),
    map({ t: new Tuple([1, 2]), m: "x", k: [new Tuple<Value>(["a", 1])], g: ["1"], n: null }),
  );
  for (
    const wrong of [
      "{% do take([nope]) %}",
      "{% do take([range.x]) %}",
      "{% do take(take) %}",
      "{% do take({(1, 2): 3}) %}",
    ]
  ) {
    environment().fromString(wrong).render(new Map([["take", take]]));
    assertThrows(() => toPlain(taken.get("value") ?? null), PythonError);
  }
});

Deno.test("a tuple that a function of the host gives is a tuple of the template", () => {
  const pair = new Func("pair", () => new Tuple<Value>([2, "a"]));
  const text = "{{ p() }} {{ p() == [2, 'a'] }} {{ p() == (2, 'a') }} {{ p() + (3,) }} {{ p()[:1] }} {{ p()[1] }} " +
    "{{ p() is sequence }} {{ p()|length }} {{ p()|tojson }} {{ {p(): 1} }} {{ p()|pprint }} {{ p().index('a') }}";
  const out = environment().fromString(text).render(new Map([["p", pair]]));
  assertEquals(out, "(2, 'a') False True (2, 'a', 3) (2,) a True 2 [2, \"a\"] {(2, 'a'): 1} (2, 'a') 1");
  assertThrows(() => environment().fromString("{{ p().append(1) }}").render(new Map([["p", pair]])), PythonError);
});
