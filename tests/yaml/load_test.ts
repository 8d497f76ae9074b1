/**
 * `loadYaml`, compared with Salt's loader on the same documents, and its own limits.
 *
 * tests/corpus/yaml.json and yaml_more.json: `M` is a map as [key, value] pairs, `L` a list, `S` a set, `RECUR` the
 * collection itself, `s:` str, `i:` int, `f:` float, `b:` bool, `y:` bytes (Latin-1); or, without `ok`, the line in
 * Salt's error, if it has one. Both were made with `salt.utils.yaml.safe_load` of Salt 3008, the second from
 * hand-written documents and from random nested ones. Those with `!!omap` were read after a run of Salt's YAML
 * renderer, which changes the loader for the whole process.
 * @module
 */

import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { YamlError } from "#lib/errors.ts";
import { equals, Float, floatRepr, isFloat, type Value } from "#lib/values/value.ts";
import { ValueSet } from "#lib/values/tuple.ts";
import { loadYaml, loadYamlMapping } from "#lib/yaml/load.ts";
import { resolvePlainScalar } from "#lib/yaml/scalar.ts";
import golden from "#tests/corpus/yaml.json" with { type: "json" };
import more from "#tests/corpus/yaml_more.json" with { type: "json" };

type Encoded = string | Encoded[];

/** `value` in the notation of the corpus. */
function encode(value: Value, parents: Value[] = []): Encoded {
  if (typeof value === "object" && parents.includes(value)) return "RECUR";
  const inner = value === null ? parents : [...parents, value];
  if (value instanceof Map) {
    return ["M", ...[...value].map(([key, item]) => [encode(key, inner), encode(item, inner)])];
  }
  if (Array.isArray(value)) return [value instanceof ValueSet ? "S" : "L", ...value.map((item) => encode(item, inner))];
  if (value === null) return "null";
  if (typeof value === "string") return `s:${value}`;
  if (typeof value === "boolean") return `b:${value ? "True" : "False"}`;
  if (value instanceof Uint8Array) return `y:${String.fromCharCode(...value)}`;
  if (isFloat(value)) return `f:${floatRepr(value instanceof Float ? value.value : value).replace(/\.0$/, "")}`;
  return `i:${value}`;
}

function check(yaml: string, ok: unknown, line: number | null | undefined): void {
  if (ok === undefined) {
    const error = assertThrows(() => loadYaml(yaml), YamlError);
    if (typeof line === "number") assertEquals(error.line, line);
  } else {
    assertEquals(encode(loadYaml(yaml)), ok);
  }
}

for (const { name, yaml, ok, line } of golden) {
  Deno.test(`loadYaml() ${ok === undefined ? `refuses on line ${line}` : "reads"} as Salt does: ${name}`, () => {
    check(yaml, ok, line);
  });
}

Deno.test("loadYaml() reads or refuses every further document as Salt does", () => {
  for (const { yaml, ok, line } of more) {
    try {
      check(yaml, ok, line);
    } catch (error) {
      throw new Error(`for ${JSON.stringify(yaml)}`, { cause: error });
    }
  }
  assert(more.length > 300);
});

Deno.test("loadYaml() gives an alias the same object as its anchor", () => {
  const map = loadYaml("a: &x [1]\nb: *x\n");
  assert(map instanceof Map && map.get("a") === map.get("b"));
});

Deno.test("loadYamlMapping() refuses options that contain themselves, and accepts repeated objects", () => {
  for (const yaml of ["a: &x [1, *x]", "a: &x {b: *x}", "a: &x {b: [{c: *x}]}"]) {
    assertThrows(() => loadYamlMapping(yaml, "master"), YamlError, "an alias stands for what contains it");
  }
  const { value } = loadYamlMapping("a: &x [1]\nb: [*x, *x]\n", "master");
  assertEquals(value, new Map([["a", [1]], ["b", [[1], [1]]]]));
});

Deno.test("loadYaml() limits the entries that merge keys may copy", () => {
  // Each level copies the pairs of the one inside.
  let copies = `{${Array.from({ length: 1_000 }, (_, i) => `k${i}: 1`).join(", ")}}`;
  for (let i = 0; i < 150; i++) copies = `{<<: ${copies}}`;
  assertThrows(() => loadYaml(copies), YamlError, "merging brings more than");
});

Deno.test("loadYaml() reads 100 levels and refuses 100,000 with a YamlError", () => {
  loadYaml("[".repeat(100) + "]".repeat(100));
  assertThrows(() => loadYaml("[".repeat(100_000)), YamlError, "nested deeper than 200 levels");
  assertThrows(() => loadYaml("- ".repeat(100_000)), YamlError, "nested deeper than 200 levels");
});

Deno.test("loadYaml() names a key that occurs twice, the file, the line and the column", () => {
  const error = assertThrows(() => loadYaml("a: 1\nb:\n  pkg: 1\n  pkg: 2\n", "/srv/x.sls"), YamlError);
  assertEquals(error.message, "/srv/x.sls:4:3: the key 'pkg' occurs twice in the same mapping");
  assertEquals([error.file, error.line, error.column], ["/srv/x.sls", 4, 3]);
});

const PROBLEMS: [yaml: string, line: number, problem: string][] = [
  ["a: 1\nb: \x1b", 2, "U+001B"],
  ["a: *b", 1, 'nothing has the anchor "b"'],
  ["a: !foo x", 1, "!foo"],
  ["a: !!python/object:os.system x", 1, "!!python/object:os.system"],
  ["a: !!int x", 1, "int"],
  ["a: =", 1, "quoted"],
  ["? [1]\n: 2", 1, "a key must be a scalar"],
  ["a: 1\n---\nb: 2", 2, "second document"],
  ["- &a 1\n- &a 2", 2, 'anchor "a"'],
  ["a: [\n1,\n  2\n", 4, "flow collection"],
  ["a: !!int 1:x", 1, "int"],
  ["a: !%zz x", 1, "tag"],
  ["a: 1\nb: !%ff x", 2, "the tag !%ff is not valid"],
];
for (const [yaml, line, problem] of PROBLEMS) {
  Deno.test(`loadYaml() explains what is wrong with ${JSON.stringify(yaml)}`, () => {
    assertEquals(assertThrows(() => loadYaml(yaml), YamlError, problem).line, line);
  });
}

Deno.test("loadYaml() counts columns in the source, also if a bracket is further left than its key", () => {
  const error = assertThrows(() => loadYaml("a:\n  b: [\n1, *x\n]"), YamlError);
  assertEquals([error.line, error.column], [3, 4]);
});

Deno.test("loadYaml() is fast for a list that begins further left than its key, and refuses a very large one", () => {
  const list = (length: number) => `a: [\n${"x,\n".repeat(length)}]\n`;
  assertEquals(encode(loadYaml(list(50))), ["M", ["s:a", ["L", ...Array(50).fill("s:x")]]]);
  assertThrows(() => loadYaml(list(2_000)), YamlError);
});

Deno.test("a single word has the same value on the fast path and on the full one", () => {
  // A fixed generator (Park and Miller's), so that a failure can be repeated.
  let seed = 42;
  const random = (below: number) => (seed = seed * 48271 % 2147483647) % below;
  const letters = "0123456789019aAbBeEfFinoxyYNTtruelsO__..+-/";
  const words = ["yes", "No", "null", "true", "0644", "0x1F", "0b11", "1e3", "1.0", "1_0", "0_", "2024-01-02", "nan"];
  for (let i = 0; i < 20_000; i++) {
    words.push(Array.from({ length: 1 + random(9) }, () => letters[random(letters.length)]).join(""));
  }
  for (const word of words) {
    if (!/^[A-Za-z0-9_]/.test(word)) continue;
    const load = (text: string): Value | undefined => {
      try {
        return loadYaml(text);
      } catch (error) {
        assert(error instanceof YamlError);
        return undefined;
      }
    };
    const fast = load(word);
    // A comment forces the full path.
    const full = load(`${word} # full`);
    const same = fast === undefined || full === undefined
      ? fast === full
      : String(encode(fast)) === String(encode(full));
    assert(same, `${word}: ${fast} but ${full}`);
    const plain = resolvePlainScalar(word);
    assert(plain === undefined ? fast === undefined : fast !== undefined && (equals(plain, fast) || plain !== plain));
  }
});

Deno.test("loadYamlMapping() knows the line of each key at the top", () => {
  const { value, lines } = loadYamlMapping("# master\nmaster: a\n\nfile_roots:\n  base:\n    - /srv\n1: x\n", "m");
  assertEquals(encode(value), [
    "M",
    ["s:master", "s:a"],
    ["s:file_roots", ["M", ["s:base", ["L", "s:/srv"]]]],
    ["i:1", "s:x"],
  ]);
  assertEquals([...lines], [["master", 2], ["file_roots", 4], ["1", 7]]);
});

for (const empty of ["", "# only\n# comments\n", "---\n", "null\n", "\ufeff"]) {
  Deno.test(`loadYamlMapping() takes ${JSON.stringify(empty)} for an empty mapping`, () => {
    assertEquals(loadYamlMapping(empty, "m"), { value: new Map(), lines: new Map() });
  });
}

Deno.test("loadYamlMapping() refuses what is no mapping", () => {
  const error = assertThrows(() => loadYamlMapping("\n- a\n", "/etc/salt/master"), YamlError, "expected a mapping");
  assertEquals(error.line, 2);
});

Deno.test("a key of more than 1024 characters needs a question mark before it, as in PyYAML", () => {
  const key = "k".repeat(1_025);
  for (const text of [`? ${key}\n: 1\n`, `?   "${key}"\n: 1\n`, `?\n  ${key}\n: 1\n`]) {
    assert(equals(loadYaml(text), new Map([[key, 1]])), text.slice(0, 10));
  }
  assert(equals(loadYaml(`${key.slice(1)}: 1\n`), new Map([[key.slice(1), 1]])));
  for (const text of [`${key}: 1\n`, `a: {${key}: 1}\n`, `a:\n  ${key}: 1\n`]) {
    assertThrows(() => loadYaml(text), YamlError, 'a key of more than 1024 characters needs "? " before it');
  }
});
