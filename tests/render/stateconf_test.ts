/**
 * The renderer `stateconf`: places in the file of what it changes, and of mistakes. What it makes is compared with
 * Salt's in tests/corpus/python_rules/stateconf.json.
 * @module
 */

import { RenderError } from "#lib/errors.ts";
import { renderSls } from "#lib/render/render.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { renderFixture } from "#tests/support/files/render_scope.ts";

function render(text: string, sls = "web.site") {
  return renderSls({ text, path: `/srv/${sls.replaceAll(".", "/")}.sls`, sls }, renderFixture());
}

function asMap(value: Value | undefined): ValueMap {
  assert(value !== undefined && isMap(value));
  return value;
}

function asList(value: Value | undefined): Value[] {
  assert(Array.isArray(value));
  return value;
}

Deno.test("what stateconf renames keeps its places in the file", async () => {
  const text = "#!stateconf -o yaml . jinja\nfirst: test.nop\n.conf:\n  test.nop:\n    - x: 1\n    - y: 2\n";
  const { data, positions } = await render(text);
  const high = asMap(data);
  assertEquals([...high.keys()], ["first", "web.site::conf", "web.site::goal"]);
  const line = (place: { readonly line: number } | undefined) => place?.line;
  assertEquals(["first", "web.site::conf", "web.site::goal"].map((id) => line(positions.key(high, id))), [
    2,
    3,
    undefined,
  ]);
  const args = asList(asMap(high.get("web.site::conf")).get("test.nop"));
  assertEquals(args.map((one) => [...asMap(one).keys()][0]), ["name", "x", "y", "require"]);
  assertEquals(args.map((_, i) => line(positions.item(args, i))), [undefined, 5, 6, undefined]);
  assertEquals(line(positions.holder(args)), 4);
});

const MISTAKES: readonly (readonly [what: string, text: string, says: RegExp, line?: number])[] = [
  ["an ID that is no map", "\n.a: test.nop\nb: 1\n", /^The type b in 1 is not formatted as a dictionary$/, 3],
  ["arguments that are no list", "\na:\n  test.nop: 5\n", /^State 'a' is not formed as a list$/, 3],
  ["an ID without a state", " -s yaml . jinja\na: {}\n", /a is empty/],
  ["an argument without a name", "\na:\n  test.nop:\n    - {}\n", /an empty map/],
  ["a file that is a list", "\n[a]\n", /^High data is not a dictionary and is invalid$/],
  ["an unknown option", " -x\na: test.nop\n", /^option -x not recognized\. #!stateconf \[-Gosp\]/],
  ["one renderer alone", " yaml\na: test.nop\n", /^Invalid use of stateconf\.py renderer!\nUsage: #!stateconf/],
  ["JSON in order", " -o json . jinja\n{}\n", /^Implicit ordering is only supported if the yaml renderer is used!$/],
];
for (const [what, text, says, line] of MISTAKES) {
  Deno.test(`stateconf tells of ${what}${line === undefined ? "" : " with its line"}`, async () => {
    const error = await assertRejects(() => render(`#!stateconf${text}`), RenderError);
    assertEquals([says.test(error.message), error.detail.place?.line], [true, line], error.message);
  });
}

Deno.test("variables of stateconf.set belong to the files of one run", async () => {
  const host = renderFixture();
  const set = "#!stateconf yaml . jinja\n.p:\n  stateconf.set:\n    - port: 80\n";
  const read = "#!stateconf -G yaml . jinja\n'{{ p is defined }}':\n  test.nop: []\n";
  const ids = async (
    text: string,
    run = host,
  ) => [...asMap((await renderSls({ text, path: "/srv/t.sls", sls: "t" }, run)).data).keys()];
  assertEquals(await ids(set), ["t::p", "t::goal"]);
  assertEquals(await ids(read), ["True"]);
  assertEquals(await ids(read, renderFixture()), ["False"]);
});

Deno.test("stateconf leaves keys of an ID that begin with two underscores alone", async () => {
  const { data } = await render("#!stateconf -o -G yaml . jinja\na:\n  __note__: 5\n  test.nop: []\n");
  const body = asMap(asMap(data).get("a"));
  assertEquals([...body.keys()], ["__note__", "test.nop"]);
  assertEquals(body.get("__note__"), 5);
});
