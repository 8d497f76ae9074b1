/**
 * Calls of `state` that are rare: damaged data of this host, files that are wrong, pillar with errors, and what
 * `state.lint` reads.
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { type Called, openTree } from "#tests/support/calls/state_tree.ts";
import { isMap, map, str } from "#lib/values/value.ts";
import { encode } from "#lib/values/msgpack.ts";

const A = { "t.sls": "a:\n  test.succeed_with_changes: []\n", "top.sls": "base:\n  '*': [t]\n" };
const WRONG = { "t.sls": "a: [x]\n", "top.sls": "base:\n  '*': [t]\n" };

/** The errors of a call that was refused. */
function refusal({ returned, retcode }: Called): string {
  assert(Array.isArray(returned), str(returned));
  return `${retcode} ${returned.map(str).join("\n")}`;
}

Deno.test("a graph is not drawn of files that are wrong", async () => {
  await using tree = await openTree({ files: WRONG });
  for (const called of [await tree.call("state.graph", ["t"]), await tree.call("state.graph_highstate")]) {
    assertMatch(refusal(called), /^1 ID a in SLS t is not a dictionary/);
  }
});

Deno.test("errors of pillar end every call that runs states, unless it forces them", async () => {
  const pillar = { _errors: ["one"] };
  await using tree = await openTree({ files: { ...A, "/x.sls": A["t.sls"] } });
  for (
    const [fun, ...args] of [["single", "test.nop", "x"], ["template", `${tree.root}/x.sls`], [
      "template_str",
      A["t.sls"],
    ]]
  ) {
    const refused = await tree.call(`state.${fun}`, args, { pillar });
    assertEquals(refusal(refused), "5 Pillar failed to render with the following messages:\none", fun);
    const forced = await tree.call(`state.${fun}`, args, { pillar, force: true });
    assertEquals([isMap(forced.returned), forced.retcode], [true, 0], fun);
  }
});

Deno.test("high data are cached under the name of a file; a cache that cannot be written does not end the run", async () => {
  await using tree = await openTree({ files: A });
  const { error } = await tree.call("state.highstate", [], { cache_name: "../x", cache: true });
  assertStringIncludes(String(error), "cache_name: '../x' is no file name");
  const { cachedir } = tree.context.opts;
  await Deno.mkdir(`${cachedir}/mine.cache.p`, { recursive: true });
  const { returned, retcode } = await tree.call("state.highstate", [], { cache_name: "mine" });
  assert(isMap(returned) && returned.size === 1);
  assertEquals(retcode, 0);
  assert(tree.context.logged.some((line) => line.startsWith("error: The high data are not kept: ")));
});

Deno.test("a plan that is damaged is none, and files that are wrong make and apply none", async () => {
  await using tree = await openTree({ files: A });
  const { returned } = await tree.call("state.plan", ["t"]);
  assert(isMap(returned));
  const name = str(returned.get("plan") ?? "");
  const path = await planPath(tree.context.opts.cachedir, name);
  const good = await Deno.readFile(path);
  const apply = async () => refusal(await tree.call("state.apply", [], { plan: name }));
  for (const damaged of [encode(5, "disk"), encode(map({ kwargs: 5 }), "disk"), encode(map({ kwargs: {} }), "disk")]) {
    await Deno.writeFile(path, damaged);
    assertStringIncludes(await apply(), `There is no plan ${name} on this minion`);
  }
  await Deno.writeFile(path, good);
  await tree.write(WRONG);
  assertMatch(await apply(), /^1 ID a in SLS t is not a dictionary/);
  assertMatch(refusal(await tree.call("state.plan", ["t"])), /^1 ID a in SLS t is not a dictionary/);
});

/** The file of a plan. */
async function planPath(cachedir: string, name: string): Promise<string> {
  const directories = [cachedir];
  for (let at = directories.pop(); at !== undefined; at = directories.pop()) {
    for await (const entry of Deno.readDir(at)) {
      if (entry.isDirectory) directories.push(`${at}/${entry.name}`);
      else if (entry.name === name) return `${at}/${entry.name}`;
    }
  }
  throw new Error(`no plan ${name}`);
}

Deno.test("a top file whose target has a number is refused, not matched", async () => {
  await using tree = await openTree({ files: { ...A, "top.sls": "base:\n  '*': 5\n" } });
  const message =
    "1 Malformed topfile: state declarations for matcher '*' in saltenv 'base' are not formed as a list (got int)";
  assertEquals(refusal(await tree.call("state.highstate")), message);
});

Deno.test("state.lint reads pillar from a file, and says what is wrong with the file", async () => {
  const files = { "t.sls": "{{ pillar['name'] }}:\n  test.nop: []\n", "/p.yaml": "name: x\n", "/l.yaml": "[1]\n" };
  await using tree = await openTree({ files });
  const lint = (name: string) => tree.call("state.lint", ["t"], { pillar_file: `${tree.root}/${name}` });
  assertEquals((await lint("p.yaml")).returned, "1 SLS file, nothing wrong");
  assertStringIncludes(String((await lint("nothing.yaml")).error), `There is no file ${tree.root}/nothing.yaml`);
  assertStringIncludes(String((await lint("l.yaml")).error), "l.yaml holds a list instead of a map");
});

Deno.test("pillar= that is no YAML is refused with the place of the mistake", async () => {
  await using tree = await openTree({ files: A });
  const { error } = await tree.call("state.apply", ["t"], { pillar: '{"one": x' });
  assertStringIncludes(String(error), "unless pillar_enc is specified. pillar:1:");
  const { error: other } = await tree.call("state.apply", ["t"], { pillar: "text" });
  assert(String(other).endsWith("unless pillar_enc is specified."), String(other));
});

Deno.test("state.single names the state function that was probably meant", async () => {
  await using tree = await openTree({ files: {} });
  const called = await tree.call("state.single", ["file.managd", "/x"]);
  assertEquals(refusal(called), "1 Specified state 'file.managd' was not found");
  assertEquals(called.errorDetails, ["Did you mean file.managed?"]);
});

Deno.test("a requisite in another state that is not there names the nearest ID or name", async () => {
  const files = {
    "t.sls": "web:\n  service.running:\n    - name: nginx\na:\n  test.nop:\n    - watch_in: [{service: ngnix}]\n",
  };
  await using tree = await openTree({ files });
  const said = refusal(await tree.call("state.sls", ["t"]));
  assertStringIncludes([...tree.context.logged, said].join("\n"), "Did you mean 'nginx'?");
});

Deno.test("state.lint says once that a file is no map, where an argument of a name stands, and once that an environment is not there", async () => {
  await using tree = await openTree({
    files: {
      "list.sls": "[1]\n",
      "names.sls": "a:\n  file.managed:\n    - names:\n      - /x:\n        - sorce: y\n",
      "many.sls": "a:\n  file.managed:\n    - names: [/x, /y]\n    - sorce: z\n",
      "top.sls": "base:\n  '*': [names]\nnothere:\n  '*': [gone]\n",
    },
  });
  const lintMessages = async (...mods: string[]) => {
    const { returned } = await tree.call("state.lint", mods);
    assert(Array.isArray(returned), str(returned));
    return returned.map(str);
  };
  assertEquals((await lintMessages("list")).length, 1);
  assertStringIncludes((await lintMessages("names"))[0], "unknown argument `sorce` of file.managed in state 'a'");
  assertEquals((await lintMessages("many")).filter((text) => text.includes("sorce")).length, 1);
  assertEquals((await lintMessages()).filter((text) => text.includes("gone")).map((text) => text.split("\n")[0]), [
    "No matching sls found for 'gone' in env 'nothere'",
  ]);
});

Deno.test("extend of an SLS file means its one ID, as in Salt; high data whose ID is no map is not extended", async () => {
  const [one, two] = ["x1:\n  test.nop: []\n", "x2:\n  test.nop: []\n"];
  const files = {
    "t.sls": "include: [x]\nextend: {x: {sls: [{require: [{test: a}]}]}}\na:\n  test.nop: []\n",
    "x.sls": one,
  };
  await using tree = await openTree({ files });
  assertStringIncludes(refusal(await tree.call("state.sls", ["t"])), "1 No function declared in state 'x1' in SLS 'x'");
  await tree.write({ "x.sls": one + two });
  assertStringIncludes(refusal(await tree.call("state.sls", ["t"])), "1 Cannot extend ID 'x' in 'base:t'.");
  // Salt fails: argument of type 'int' is not iterable.
  const high = map({ a: 5, __extend__: [{ a: { test: [{ foo: 1 }] } }] });
  assertStringIncludes(refusal(await tree.call("state.high", [high])), "1 Cannot extend ID 'a'");
});
