/**
 * The compiler's additions to Salt's messages: the position, the nearest name, the chain of a cycle; and all errors at
 * once.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { errorText } from "#lib/states/compiler/compile_error.ts";
import { lintTree } from "#lib/states/compiler/lint.ts";
import type { Positions } from "#lib/values/positions.ts";
import type { SlsSource } from "#lib/states/compiler/source.ts";
import { compile, type Compiled, type CompileOptions, GRAPH, LINT, LOWSTATE } from "#lib/states/compiler/stages.ts";
import { walkSls } from "#lib/states/compiler/walk.ts";
import { toDot } from "#lib/states/compiler/dot.ts";
import { field } from "#lib/states/compiler/chunks.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";

const OPTIONS: CompileOptions = {
  disabledRequisites: [],
  aggregate: false,
  disabledStates: [],
  modules: { watches: () => true, aggregates: (module) => module === "pkg", signature: () => undefined },
};

function sourceOf(files: Readonly<Record<string, string>>): SlsSource {
  return {
    envs: () => Promise.resolve(["base"]),
    available: () => Promise.resolve(Object.keys(files).sort()),
    render(sls) {
      const text = files[sls];
      if (text === undefined) return Promise.resolve(undefined);
      const data = loadYaml(text);
      const positions = positionsOf(text, data, `${sls}.sls`);
      return Promise.resolve({ data: isMap(data) ? data : new Map(), positions, isInit: false });
    },
  };
}

/** The positions of a YAML text; keys and items are searched in order. */
function positionsOf(text: string, data: Value, file: string): Positions {
  const offsets = new Map<Value, Map<Value, number>>(), holders = new Map<Value, number>();
  let at = 0;
  const find = (word: string): number => {
    const start = text.indexOf(word, at);
    at = start + word.length;
    return start;
  };
  /** @returns The position where it begins. */
  const visit = (value: Value): number | undefined => {
    if (!isMap(value) && !Array.isArray(value)) return value === null ? undefined : find(str(value));
    const inside = new Map<Value, number>();
    offsets.set(value, inside);
    for (const [key, item] of value.entries()) {
      const own = isMap(value) ? find(str(key)) : undefined;
      const begin = visit(item);
      if (own !== undefined) holders.set(item, own);
      const offset = own ?? begin;
      if (offset !== undefined) inside.set(key, offset);
    }
    const [first] = inside.values();
    return first === undefined ? undefined : "{[".includes(text[first - 1]) ? first - 1 : first;
  };
  visit(data);
  const place = (container: Value, key: Value) => {
    return placeOf(offsets.get(container)?.get(key));
  };
  const placeOf = (offset: number | undefined) => {
    if (offset === undefined) return undefined;
    const before = text.slice(0, offset).split("\n");
    return { file, line: before.length, column: (before.at(-1) ?? "").length + 1 };
  };
  return {
    key: place,
    item: (list, index) => place(list as Value[], index),
    holder: (made) => placeOf(holders.get(made as Value)),
  };
}

async function compiled(files: Record<string, string>, options = OPTIONS): Promise<Compiled> {
  const walked = await walkSls(new Map([["base", ["t"]]]), sourceOf(files));
  const made = compile(walked, LOWSTATE, options);
  return { ...made, errors: [...walked.errors, ...made.errors] };
}

/** The shown errors without Salt's words, which corpus_test.ts checks. */
async function more(text: string, others: Record<string, string> = {}): Promise<string[]> {
  const files: Record<string, string> = { t: text, ...others };
  const { errors } = await compiled(files);
  return errors.map((error) =>
    errorText(error, (file) => files[file.replace(".sls", "")]).slice(error.text.trimEnd().length + 1)
  );
}

Deno.test("an error shows the line of its requisite", async () => {
  assertEquals(await more("a: test.nop\nb:\n  test.nop:\n    - require:\n      - pkg: nginx\n"), [
    [
      "t.sls:5:9",
      "---",
      "  test.nop:",
      "    - require:",
      "      - pkg: nginx    <======================",
      "",
      "---",
    ].join("\n"),
  ]);
});

Deno.test("the error of an unknown requisite names the nearest known one", async () => {
  const hints = async (requisite: string) => {
    const tree =
      `nginx:\n  pkg.installed: []\nweb:\n  file.managed:\n    - name: /etc/web\n    - require: [${requisite}]\n`;
    return (await more(tree)).map((text) => text.split("\n")[0]);
  };
  assertEquals(await hints("{pkg: ngnix}"), ["Did you mean 'pkg: nginx'?"]);
  assertEquals(await hints("{service: nginx}"), ["Did you mean 'pkg: nginx'?"]);
  assertEquals(await hints("{sls: tt}"), ["Did you mean 'sls: t'?"]);
  assertEquals(await hints("{file: /etc/wbe}"), ["Did you mean 'file: /etc/web'?"]);
  assertEquals(await hints("ngnix"), ["Did you mean 'id: nginx'?"]);
  assertEquals(await hints("{pkg: postgresql}"), ["t.sls:6:17"]);
});

Deno.test("an include, an extend and a requested file suggest the nearest name", async () => {
  assertEquals(await more("include: [ngix]\na: test.nop\n", { nginx: "{}" }), [
    "Did you mean 'nginx'?\nt.sls:1:11\n---\ninclude: [ngix]    <======================\na: test.nop\n\n---",
  ]);
  assertEquals((await more("extend:\n  nginz:\n    test: [x: 1]\nnginx: test.nop\n"))[0].split("\n").slice(0, 2), [
    "Did you mean the ID 'nginx'?",
    "t.sls:2:3",
  ]);
  const walked = await walkSls(new Map([["base", ["nginz"]]]), sourceOf({ nginx: "{}" }));
  assertEquals(walked.errors.map(({ hint }) => hint), ["Did you mean 'nginx'?"]);
});

Deno.test("a cycle of requisites is shown as a chain", async () => {
  const text = "a:\n  test.nop:\n    - require: [{test: b}]\nb:\n  cmd.run:\n    - watch: [{test: c}]\n  test.nop:\n" +
    "    - onchanges: [{cmd: b}]\nc:\n  test.nop:\n    - require: [{test: a}]\n";
  assertEquals((await more(text))[0].split("\n").slice(0, 6), [
    "test: a (t.sls:2:3) has in require:",
    "  test: b (t.sls:7:3) has in onchanges:",
    "    cmd: b (t.sls:5:3) has in watch:",
    "      test: c (t.sls:10:3) has in require:",
    "        test: a (t.sls:2:3)",
    "t.sls:2:3",
  ]);
});

Deno.test("syntax errors have the position of the ID, the state or the argument", async () => {
  const places = async (text: string) =>
    (await compiled({ t: text })).errors.filter(({ repeats }) => !repeats).map((
      { place },
    ) => [place?.line, place?.column]);
  assertEquals(await places("a: test.nop\nb:\n  - x\n"), [[2, 1]]);
  assertEquals(await places("a: test.nop\nb:\n  test.nop:\n"), [[3, 3]]);
  assertEquals(await places("a:\n  test.nop:\n    - x: 1\n    - foo bar\n"), [[4, 7], [2, 3]]);
  assertEquals(await places("a:\n  test:\n    - nop\n    - require: b\n"), [[4, 7]]);
  assertEquals(await places("a:\n  test:\n    - nop\n    - require:\n        - b\n        - {x: 1, y: 2}\n"), [[
    6,
    11,
  ]]);
  assertEquals(await places("a:\n  test.nop: []\n  test.x: []\n"), [[3, 3]]);
  assertEquals(await places("a:\n  test.nop:\n    - require_in:\n        - test: zz\n"), [[4, 11]]);
  assertEquals(await places("1:\n  test.nop: []\n"), [[1, 1]]);
  assertEquals(await places("include: x\n"), [[1, 1], [1, 1]]);
});

Deno.test("chunks have their positions, also after an extend or a name", async () => {
  const { chunks, places } = await compiled({
    t: "a:\n  test.nop:\n    - names: [x, y]\nb:\n  pkg.installed: []\n  test.nop:\n    - require_in: [{pkg: b}]\n",
  });
  assertEquals(
    chunks.map((chunk) => [field(chunk, "state"), field(chunk, "name"), places.of(chunk)?.line]),
    [["test", "x", 2], ["test", "y", 2], ["test", "b", 6], ["pkg", "b", 5]],
  );
});

Deno.test("each stage continues after errors of the previous ones: all errors are reported at once", async () => {
  const text = `include: [nothere]
extend:
  zz:
    test: [{a: b}]
1:
  test.nop: []
a: [1]
b:
  test.nop:
    - require: c
    - 5
    - {}
    - names: x
    - watch_in: [{test: unknown}, 7, {}]
c:
  test.nop:
    - require: [{test: missing}]
    - 7: 8
d:
  2: x
  test: {a: b}
`;
  const walked = await walkSls(new Map([["base", ["t", "gone"]]]), sourceOf({ t: text }));
  const { errors } = compile(walked, LINT, OPTIONS);
  assertEquals([...walked.errors, ...errors].map((error) => error.text.split("\n")[0]), [
    "ID a in SLS t is not a dictionary",
    "Specified SLS nothere in saltenv base is not available on the salt master or through a configured fileserver",
    "No matching sls found for 'gone' in env 'base'",
    "Cannot extend ID 'zz' in 'base:t'. It is not part of the high state.",
    "ID '1' in SLS 't' is not formed as a string, but is type int. It may need to be quoted.",
    "The type a in [1] is not formatted as a dictionary",
    "The require statement in state 'b' in SLS 't' needs to be formed as a list",
    "The 'names' argument in state 'b' in SLS 't' needs to be formed as a list",
    "State '2' of ID 'd' in SLS 't' is not formed as a string, but is type int. It may need to be quoted.",
    "State 'd' in SLS 't' is not formed as a list",
    "Cannot extend ID 'unknown' in 'base:t'. It is not part of the high state.",
    "Referenced state does not exist for requisite [require: (test: missing)] in state [c] in SLS [t]",
  ]);
});

Deno.test("aggregation joins states of one module unless one waits for another", async () => {
  const text = "a:\n  pkg.installed: []\nb:\n  pkg.installed: []\nc:\n  pkg.installed:\n    - require: [{test: t}]\n" +
    "t:\n  test.nop:\n    - require: [{pkg: a}]\nd:\n  pkg.installed:\n    - aggregate: false\ne:\n  test.nop: []\n" +
    "f:\n  pkg.installed:\n    - require: [{pkg: c}]\ng:\n  pkg.installed: []\n";
  const groups = async (aggregate: CompileOptions["aggregate"]) =>
    (await compiled({ t: text }, { ...OPTIONS, aggregate })).aggregates.map((group) =>
      group.map((chunk) => field(chunk, "__id__"))
    );
  assertEquals(await groups(true), [["a", "b", "g"]]);
  assertEquals(await groups(["pkg"]), [["a", "b", "g"]]);
  assertEquals(await groups(["service"]), []);
  assertEquals(await groups(false), []);
});

Deno.test("toDot() writes the graph in Graphviz's language, quotes escaped", async () => {
  const tree = `'a"b': test.nop\nb:\n  test.nop:\n    - name: n\n    - require: ['a"b']\n`;
  const { graph } = compile(await walkSls(new Map([["base", ["t"]]]), sourceOf({ t: tree })), GRAPH, OPTIONS);
  assertEquals(
    toDot(graph),
    [
      "digraph G {",
      '  "test_|-a\\"b_|-a\\"b_|-nop" [label="test.nop\\na\\"b"];',
      '  "test_|-b_|-n_|-nop" [label="test.nop\\nb\\n(n)"];',
      '  "test_|-a\\"b_|-a\\"b_|-nop" -> "test_|-b_|-n_|-nop" [label="require"];',
      "}",
    ].join("\n"),
  );
});

Deno.test("lintTree() checks an included file together with those that include it, and reports each error once", async () => {
  const lint = async (files: Record<string, string>) => {
    const alone = new Map([["base", Object.keys(files)]]);
    const request = { together: new Map(), alone, options: () => Promise.resolve(OPTIONS) };
    const { files: count, errors } = await lintTree(sourceOf(files), request);
    return [count, errors.map(({ text }) => text.split(" ").slice(0, 3).join(" "))];
  };
  const part = "b:\n  test.nop:\n    - require: [{test: a}]\n";
  assertEquals(await lint({ web: "include: [part]\na: test.nop\n", part }), [2, []]);
  assertEquals(await lint({ part }), [1, ["Referenced state does"]]);
  // Two files that include each other are both checked.
  assertEquals(await lint({ x: `include: [y]\n${part}`, y: "include: [x]\nc: test.nop\n" }), [2, [
    "Referenced state does",
  ]]);
  assertEquals(await lint({ x: "a:\n  test.nop:\n    - require_in: [zzz]\n" }), [1, ["The require_in of"]]);
  // Files that are never applied together may have the same ID.
  assertEquals(await lint({ x: "a: test.nop\n", y: "a: cmd.run\n" }), [2, []]);
});
