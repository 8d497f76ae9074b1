/**
 * Documents that are read without the YAML parser have the same values as with the parser.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { YamlError } from "#lib/errors.ts";
import { readBlocks } from "#lib/yaml/block.ts";
import { loadYaml, loadYamlPlaces } from "#lib/yaml/load.ts";
import { type Value } from "#lib/values/value.ts";
import golden from "#tests/corpus/yaml.json" with { type: "json" };
import more from "#tests/corpus/yaml_more.json" with { type: "json" };

/** The parser's result for a text; `undefined` if it refuses it. A document marker makes the reader use the parser. */
function parsed(text: string): Value | undefined {
  try {
    return loadYaml(`---\n${text}`);
  } catch (error) {
    if (error instanceof YamlError) return undefined;
    throw error;
  }
}

/** @returns Whether the text was read without the parser. */
function check(text: string): boolean {
  const read = readBlocks(text);
  if (read === undefined) return false;
  const inspected = (value: unknown) => Deno.inspect(value, { depth: 60, iterableLimit: 1e4, strAbbreviateSize: 1e4 });
  assertEquals(inspected(read.value), inspected(parsed(text)), JSON.stringify(text));
  return true;
}

Deno.test("every document of the corpus that is read without the parser has the parser's value", () => {
  const texts = [...golden, ...more].map(({ yaml }) => yaml);
  const taken = texts.filter(check).length;
  assert(taken > 30, String(taken));
});

/** Parts of lines: those of SLS files, and difficult ones. */
const PIECES = [
  ..."| |- |+ |2 > >- [] {} [a,b] [a, ['x',1] [\"y\"] [-1] [-] [~] [yes,0644] {} {a} [,] [a,]".split(" "),
  ..."[a, b]~[ a , 'b c' ]~{ }~[ ]~[1.5, \"d\"] # c~[a] [b]~[a] #b]".split("~"),
  ..."a b.c file.managed: - -- key: 'q' \"d\" 'it''s' \"\\n\" \"\\x41\" # #c x#y 0644 1.5 yes ~ null 2020-01-01 << = :"
    .split(" "),
  ...": :: , [ ] {} [] { } | > & &a *a ! !!str % @ ` ? é ü: ' \" \\ -1 .5 +1 0x1F 1_000 12:30 a: b:c http://x/ --- ..."
    .split(" "),
  " ",
  "  ",
  "\t",
];

/** Numbers from 0 to below 1, the same with each run. */
function numbers(seed: number): () => number {
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
}

Deno.test("texts of random lines are read as by the parser, or left to the parser", () => {
  const next = numbers(7);
  const one = <T>(of: readonly T[]) => of[Math.floor(next() * of.length)];
  let taken = 0;
  for (let i = 0; i < 12_000; i++) {
    const lines = Array.from({ length: 1 + Math.floor(next() * 6) }, () => {
      const indent = " ".repeat(Math.floor(next() * 4) * one([1, 2]));
      const begin = one([
        "",
        "- ",
        "a: ",
        "b:",
        "- c: ",
        "'k': ",
        "- - ",
        "-",
        `k${Math.floor(next() * 9)}: `,
        "b: |",
        "- |-",
        "- a: |+",
        "",
      ]);
      const rest = Array.from({ length: Math.floor(next() * 3) }, () => one(PIECES)).join(one([" ", "", " "]));
      return indent + begin + rest;
    });
    if (check(lines.join("\n") + one(["", "\n", "\n\n"]))) taken++;
  }
  // Otherwise the test would compare nothing.
  assert(taken > 1_000, String(taken));
});

Deno.test("the usual form of SLS files is read without the parser", () => {
  const text =
    "web:\n  # one comment\n  file.managed:\n    - name: /etc/x # another\n    - mode: '0644'\n    - require:\n" +
    "      - pkg: nginx\n  service.running: []\n'*':\n- a\n-\n  b: {}\n- - 1\n  - \"two\\n\"\n";
  assert(check(text));
});

Deno.test("literal blocks and flow lists of words are read without the parser", () => {
  const script =
    "a:\n  cmd.run:\n    - name: |\n        if x; then\n\n          y: # no comment\n        fi\n   \n    - text: |-\n\n" +
    "        - a\n        'b\n\n    - keep: |+\n        c\n\n\n# comment\nb:\n- |\n  d\n- - |-\n    e\n    \n";
  assert(check(script));
  assert(check("a: [b, 'c d', \"e\", 1, 0644, yes, ~, -1] # f\nb: [ ]\nc: { }\n- d\n".replace("- d\n", "")));
  const deep = Array.from({ length: 50 }, (_, i) => `${" ".repeat(i)}a:\n`).join("");
  // Texts with special rules are left to the parser.
  for (
    const text of [
      "a: |",
      "a: |\n",
      "a: |\n  b",
      "a: |2\n   b\n",
      "a: |\n   \n  b\n",
      "a: |\n    b\n  # c\n",
      "a: [b: c]\n",
      "a: [b,\n c]\n",
      deep,
    ]
  ) {
    assertEquals(readBlocks(text), undefined, text);
  }
});

Deno.test("positions are those of the text, with and without the parser", () => {
  const text = "web:\n  file.managed:\n    - name: /etc/x\n    - require:\n      - pkg: nginx\ns0: test.nop\n";
  const places = (written: string) => {
    const { value, places } = loadYamlPlaces(written, "x.sls");
    const [root, body] = [value, value instanceof Map ? value.get("web") : null];
    const run = body instanceof Map ? body.get("file.managed") : null;
    assert(root instanceof Map && body instanceof Map && Array.isArray(run) && run[1] instanceof Map);
    // The compiler changes the value before the positions are read.
    run.push("managed");
    return [
      places.of(root, "s0"),
      places.of(run, 1),
      places.of(run[1], "require"),
      places.holder(body),
      places.holder(run),
      places.holder(run[1]),
      places.of([], 0),
    ];
  };
  const expected = [
    { line: 6, column: 1 },
    { line: 4, column: 7 },
    { line: 4, column: 7 },
    { line: 1, column: 1 },
    { line: 2, column: 3 },
    undefined,
    undefined,
  ];
  assertEquals(places(text), expected);
  assertEquals(places(`${text}e: {}\n`), expected);
  // A flow map that is not empty is left to the parser.
  assertEquals(places(`${text}e: {f: g}\n`), expected);
});
