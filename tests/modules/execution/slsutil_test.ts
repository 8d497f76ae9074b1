import { assert, assertEquals, assertRejects } from "@std/assert";
import { CommandError, InvocationError, RenderError } from "#lib/errors.ts";
import { execute } from "#lib/plugins/execution.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "slsutil");

async function run(
  context: TestContext,
  name: string,
  args: unknown[],
  kwargs: Record<string, unknown> = {},
): Promise<Value> {
  const values = map({ args, kwargs });
  return await context.call(`slsutil.${name}`, values.get("args") as Value[], values.get("kwargs") as ValueMap);
}

/** A minion without a master; its state tree has these files. */
async function masterless(
  files: Record<string, string>,
): Promise<{ context: TestContext; root: string } & AsyncDisposable> {
  const root = await Deno.makeTempDir({ prefix: "slsutil_" });
  for (const [path, text] of Object.entries(files)) {
    const full = `${root}/srv/${path}`;
    await Deno.mkdir(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(full, text);
  }
  const opts = testOpts({
    root_dir: root,
    file_client: "local",
    file_roots: new Map([["base", [`${root}/srv`]]]),
  });
  const context = testContext({ opts, pillar: map({ port: 80 }), grains: map({ os: "Debian" }) });
  return { context, root, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

Deno.test("slsutil.update changes its argument, and slsutil.merge does not", async () => {
  const context = testContext();
  const dest = map({ a: { b: 1 }, list: [1] });
  await context.call("slsutil.update", [dest, map({ a: { c: 2 }, list: [2] })], map({ merge_lists: true }));
  assertEquals(dest, map({ a: { b: 1, c: 2 }, list: [1, 2] }));
  const base = map({ a: { b: 1 } });
  const merged = await context.call("slsutil.merge", [base, map({ a: { c: 2 } })]);
  assertEquals([base, merged], [map({ a: { b: 1 } }), map({ a: { b: 1, c: 2 } })]);
});

Deno.test("slsutil.merge has Salt's strategies, and an unknown one is logged", async () => {
  const context = testContext();
  const merge = (strategy: string) =>
    run(context, "merge", [{ a: 1, b: { c: 1 } }, { a: 2, b: { d: 2 }, e: 3 }], { strategy });
  assertEquals(await merge("smart"), map({ a: 2, b: { c: 1, d: 2 }, e: 3 }));
  assertEquals(await merge("list"), map({ a: [1, 2], b: [{ c: 1 }, { d: 2 }] }));
  assertEquals(context.logged, []);
  assertEquals(await merge("nosuch"), map({ a: 2, b: { c: 1, d: 2 }, e: 3 }));
  assertEquals(context.logged, ["warning: Unknown merging strategy 'nosuch', fallback to recurse"]);
  assertEquals(await run(context, "merge_all", [[{ foo: "Foo" }, { foo: "Bar", x: 1 }]]), map({ foo: "Bar", x: 1 }));
});

Deno.test("slsutil.banner draws Salt's banners", async () => {
  const context = testContext();
  assertEquals(
    await run(context, "banner", []),
    [
      "########################################################################",
      "#                                                                      #",
      "#              THIS FILE IS MANAGED BY SALT - DO NOT EDIT              #",
      "#                                                                      #",
      "# The contents of this file are managed by Salt. Any changes to this   #",
      "# file may be overwritten automatically and without warning.           #",
      "########################################################################",
    ].join("\n"),
  );
  const java = {
    width: 40,
    commentchar: " *",
    borderchar: "*",
    blockstart: "/**",
    blockend: " */",
    title: "T",
    text: "text",
    newline: true,
  };
  assertEquals(
    await run(context, "banner", [], java),
    [
      "/**",
      " ***************************************",
      " *                                     *",
      " *                  T                  *",
      " *                                     *",
      " * text                                *",
      " ***************************************",
      " */",
      "",
    ].join("\n"),
  );
  await assertRejects(() => run(context, "banner", [], { width: 4 }), InvocationError, "Width is too small");
});

Deno.test("slsutil.serialize and slsutil.deserialize support Salt's formats", async () => {
  const context = testContext();
  const value = { b: { c: [1, 2] }, a: "é", n: null };
  assertEquals(await run(context, "serialize", ["yaml", value]), 'a: "\\xE9"\nb:\n  c: [1, 2]\nn: null');
  assertEquals(
    await run(context, "serialize", ["yaml", value], { default_flow_style: false }),
    'a: "\\xE9"\nb:\n  c:\n  - 1\n  - 2\nn: null',
  );
  assertEquals(await run(context, "serialize", ["json", value]), '{"b": {"c": [1, 2]}, "a": "é", "n": null}');
  assertEquals(
    await run(context, "serialize", ["json", value], { indent: 1, sort_keys: true }),
    '{\n "a": "é",\n "b": {\n  "c": [\n   1,\n   2\n  ]\n },\n "n": null\n}',
  );
  const ini = "[one]\nkey = 1\nmore = 50%%\n\n";
  assertEquals(await run(context, "serialize", ["configparser", { one: { Key: 1, more: "50%%" } }]), ini);
  assertEquals(
    await run(context, "deserialize", ["configparser", ini + "[two]\nx: %(y)s!\ny=\n  a\n  b\n"]),
    map({ one: { key: "1", more: "50%" }, two: { x: "\na\nb!", y: "\na\nb" } }),
  );
  assertEquals(
    await run(context, "deserialize", ["json", '{"1": 1.5, "0": {"a": 9007199254740993}}']),
    map({ "1": 1.5, "0": { a: 9007199254740993n } }),
  );
  assertEquals(await run(context, "deserialize", ["yaml", "a: yes\nb: 0644\n"]), map({ a: true, b: 644 }));
  assertEquals(
    await run(context, "deserialize", ["toml", "a = 1\nb = 1.0\n[c]\nd = 2020-01-01\n"]),
    map({ a: 1, b: 1, c: { d: "2020-01-01" } }).set("b", (await run(context, "deserialize", ["yaml", "1.0"])) as Value),
  );
  const packed = await run(context, "serialize", ["msgpack", { a: [1, "x"] }]);
  assertEquals(await run(context, "deserialize", ["msgpack", packed]), map({ a: [1, "x"] }));
  await assertRejects(() => run(context, "serialize", ["nosuch", {}]), CommandError, "Serializer 'nosuch' not found.");
  assertEquals(await run(context, "serialize", ["toml", { a: { b: [1] }, c: "x" }]), 'c = "x"\n\n[a]\nb = [ 1,]\n');
  await assertRejects(() => run(context, "serialize", ["toml", [1]]), CommandError, "can only serialize dictionaries");
  await assertRejects(
    () => run(context, "deserialize", ["json", "{"]),
    CommandError,
    "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
  );
  await assertRejects(() => run(context, "deserialize", ["yaml", "a: b: c"]), CommandError);
});

Deno.test("slsutil.renderer renders texts and files of the state tree, with includes relative to them", async () => {
  await using minion = await masterless({
    "web/map.jinja": "{% set port = pillar.port %}\n{% import_yaml './defaults.yaml' as defaults %}\n",
    "web/defaults.yaml": "web:\n  name: {{ grains.os|lower }}\n",
    "web/init.sls":
      "{% from './map.jinja' import port with context %}{% from 'web/map.jinja' import defaults %}\nport: {{ port }}\nname: {{ defaults.web.name }}\n" +
      "tpl: {{ tplfile }} {{ tpldir }}\necho: {{ salt['test.echo']('x') }}\n",
    "plain.txt": "Hello {{ name }}\r\n",
  });
  const { context } = minion;
  assertEquals(
    await run(context, "renderer", ["salt://web/init.sls"], { sls: "web" }),
    map({ port: 80, name: "debian", tpl: "web/init.sls web", echo: "x" }),
  );
  assertEquals(
    await run(context, "renderer", [], {
      string: "Hello {{ name }} {{ saltenv }}",
      default_renderer: "jinja",
      name: "you",
    }),
    "Hello you base",
  );
  assertEquals(
    await run(context, "renderer", ["salt://plain.txt"], { default_renderer: "jinja", name: "you" }),
    "Hello you\r\n",
  );
  assertEquals(await run(context, "renderer", ["salt://nosuch.sls"]), new Map());
  await assertRejects(
    () => run(context, "renderer", [], { string: "{{ nope }}" }),
    RenderError,
    "Jinja variable 'nope' is undefined; line 1",
  );
  const failed = await execute("slsutil.renderer", { args: [], kwargs: map({ string: "a\n{{ nope }}" }) }, context);
  assertEquals(
    failed.return,
    "The minion function caused an exception: Jinja variable 'nope' is undefined; line 2\n\n---\na\n{{ nope }}    <======================\n---\nat the text:2:4",
  );
  await assertRejects(() => run(context, "renderer", []), InvocationError, "Must pass path or string.");
  await assertRejects(() => run(context, "renderer", ["a"], { string: "b" }), InvocationError, "Must not pass both");
});

Deno.test("slsutil finds files and directories of the state tree", async () => {
  await using minion = await masterless({ "a/b/c.sls": "", "a/map.jinja": "", "top.sls": "" });
  const { context } = minion;
  assertEquals(await run(context, "file_exists", ["a/b/c.sls"]), true);
  assertEquals(await run(context, "file_exists", ["a/b"]), false);
  assertEquals(await run(context, "dir_exists", ["a/b"]), true);
  assertEquals(await run(context, "path_exists", ["a"]), true);
  assertEquals(await run(context, "path_exists", ["nope"]), false);
  assertEquals(await run(context, "findup", ["a/b", ["nope", "map.jinja"]]), "a/map.jinja");
  assertEquals(await run(context, "findup", ["a/b/c.sls", "top.sls"]), "top.sls");
  assertEquals(
    await run(context, "findup", ["", "b"]).catch((error) => error.message),
    "File pattern(s) not found in path ancestry",
  );
  await assertRejects(() => run(context, "findup", ["nope", "x"]), InvocationError, "Starting path not found");
  await assertRejects(() => run(context, "findup", ["a", 5]), InvocationError, "must be a string or list of strings");
  assertEquals(await run(context, "boolstr", [1, "on", "off"]), "on");
  assert(await run(context, "boolstr", [""]) === "false");
});

Deno.test("defaults.merge and defaults.update change their argument, unless in_place is False", async () => {
  const context = testContext();
  const dest = map({ a: { b: 1 } });
  await context.call("defaults.merge", [dest, map({ a: { c: 2 } })]);
  assertEquals(dest, map({ a: { b: 1, c: 2 } }));
  await context.call("defaults.merge", [dest, map({ a: { d: 3 } })], map({ in_place: false }));
  assertEquals(dest, map({ a: { b: 1, c: 2 } }));
  const nodes = map({ one: { a: 1 } });
  await context.call("defaults.update", [nodes, map({ a: 0, b: { c: 1 } })]);
  assertEquals(nodes, map({ one: { a: 1, b: { c: 1 } } }));
  const copy = await context.call("defaults.deepcopy", [nodes]);
  assertEquals([copy, copy === nodes], [nodes, false]);
});
