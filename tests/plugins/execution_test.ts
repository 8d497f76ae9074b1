import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { executeMany } from "#lib/plugins/execution.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a function that succeeds returns its result with retcode 0 and no outputter", async () => {
  assertEquals(await run("test.echo", ["hello"]), { return: "hello", retcode: 0, success: true });
});

for (
  const [name, arg, out] of [["grains.items", [], "nested"], ["grains.item", ["os"], "nested"], [
    "grains.ls",
    [],
    undefined,
  ]] as const
) {
  Deno.test(`a return of ${name} requests the outputter ${out}, as in Salt`, async () => {
    assertEquals((await run(name, [...arg])).out, out);
  });
}

/** Function, `arg`, and the text of the return; checked against Salt 3008.3. */
const FAILURES: readonly [string, Value[], RegExp][] = [
  ["test.raise_exception", ["salt.exceptions.CommandExecutionError", "no"], /^ERROR: no$/],
  [
    "test.raise_exception",
    ["salt.exceptions.SaltInvocationError", "no"],
    /^ERROR executing 'test.raise_exception': no$/,
  ],
  ["test.raise_exception", ["salt.exceptions.SaltClientError", "no"], /^ERROR executing 'test.raise_exception': no$/],
  [
    "test.raise_exception",
    ["salt.exceptions.CommandNotFoundError", "no"],
    /^Command required for 'test.raise_exception' not found: no$/,
  ],
  ["test.raise_exception", ["TypeError", "no"], /^Passed invalid arguments to test.raise_exception: no\n\n {4}Fail/],
  ["test.exception", ["Oh noes!"], /^The minion function caused an exception: Error: Oh noes!\n/],
  [
    "test.ping",
    ["x"],
    /^Passed invalid arguments to test.ping: ping\(\) takes 0 positional arguments but 1 was given\n/,
  ],
  ["test.ping", ["a=1"], /^ERROR executing 'test.ping': The following keyword arguments are not valid: a=1$/],
  ["nope.nope", [], /^'nope.nope' is not available\.$/],
  [
    "devmap.multipath_list",
    [],
    /^'devmap.multipath_list' is not available: it is a function of Salt that is not built yet\.$/,
  ],
  ["state.aply", [], /^'state.aply' is not available\. Did you mean state.apply\?$/],
  ["test.pin", [], /^'test.pin' is not available\. Did you mean test.ping\?$/],
  ["test.arg_", [], /^'test.arg_' is not available\. Did you mean test.arg\?$/],
  ["test.random_h", [], /^'test.random_h' is not available\. Did you mean test.random_hash\?$/],
  [
    "saltutil.refr",
    [],
    /^'saltutil.refr' is not available\. Did you mean saltutil\.refresh_\w+(, saltutil\.refresh_\w+){4} and \d+ more\?$/,
  ],
  [
    "file.manged",
    [],
    /^'file.manged' is not available\. file.managed is a state function: state.single file.managed …$/,
  ],
  [
    "file.managed",
    [],
    /^'file.managed' is not available\. file.managed is a state function: state.single file.managed …$/,
  ],
  ["tset.ping", [], /^'tset.ping' is not available\. Did you mean test.ping\?$/],
];

for (const [name, arg, expected] of FAILURES) {
  Deno.test(`${name} with ${JSON.stringify(arg)} fails as ${expected.source.slice(0, 60)}`, async () => {
    const outcome = await run(name, arg);
    assertMatch(String(outcome.return), expected);
    assertEquals([outcome.retcode, outcome.success, outcome.out], [1, false, "nested"]);
    assert(outcome.error instanceof Error);
  });
}

Deno.test("a module without a function returns the documentation of its functions", async () => {
  const outcome = await run("test");
  assert(isMap(outcome.return));
  assertEquals(outcome.return.get("test"), "'test' is not available.");
  assertMatch(
    String(outcome.return.get("test.ping")),
    /^\n {4}\S[^]*\n {4}CLI Example:\n\n {8}salt '\*' test.ping\n {4}$/,
  );
  assertEquals([outcome.retcode, outcome.success, outcome.out], [1, false, "nested"]);
});

Deno.test("a function of a module that cannot be loaded reports the reason", () =>
  withTemporaryDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/modules`);
    await Deno.writeTextFile(`${directory}/modules/mine.js`, "throw new Error('not today');");
    const context = testContext({ catalogue: loadCatalogue({ extensionModules: directory }) });
    const outcome = await run("mine.f", [], context);
    assertMatch(String(outcome.return), /^'mine.f' is not available. Possible reasons: '.*mine.js: not today'$/);
  }));

Deno.test("a function that needs an undeclared permission fails with its name", () =>
  withTemporaryDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/modules`);
    const refused = (text: string) => `throw new Deno.errors.NotCapable(${JSON.stringify(text)});`;
    await Deno.writeTextFile(
      `${directory}/modules/mine.js`,
      `export function f() { ${refused('Requires read access to "/x", run again with the --allow-read flag')} }\n` +
        `export function g() { ${refused("not now")} }`,
    );
    const context = testContext({ catalogue: loadCatalogue({ extensionModules: directory }) });
    const message = (name: string, wanted: string) =>
      `ERROR executing 'mine.${name}': The permissions that the function declares do not allow this: ${wanted}. ` +
      `A module of your own declares what mine.${name} needs in its "permissions".`;
    assertEquals((await run("mine.f", [], context)).return, message("f", 'read access to "/x"'));
    assertEquals((await run("mine.g", [], context)).return, message("g", "not now"));
  }));

Deno.test("retcode is the value that the function set, also in calls of other functions", async () => {
  const context = testContext();
  assertEquals(await run("test.retcode", [3], context), { return: true, retcode: 3, success: false });
  assertEquals((await run("test.cross_test", ["test.retcode", [4]], context)).retcode, 4);
  assertEquals((await run("test.ping", [], context)).retcode, 0);
});

for (
  const [field, value, retcode] of [["result", false, 1], ["success", 0, 1], ["result", null, 1], [
    "result",
    true,
    0,
  ]] as const
) {
  Deno.test(`a returned map with ${field} ${value} gives retcode ${retcode}`, async () => {
    assertEquals((await run("test.echo", [map({ [field]: value })])).retcode, retcode);
  });
}

Deno.test("arguments are parsed as a minion parses a load", async () => {
  const kwarg = map({ __kwarg__: true, b: "1.0", c: map({ d: 1 }) });
  const outcome = await run("test.arg_clean", ["1", "a=2", "b==c", map({ x: 1 }), kwarg]);
  const args = new Tuple<Value>(["1", "b==c", map({ x: 1 })]);
  assertEquals(outcome.return, map({ args, kwargs: { a: 2, b: "1.0", c: { d: 1 } } }));
});

Deno.test("a function with **kwargs gets the publish fields", async () => {
  const context = testContext({ job: { jid: "20260101000000000000", fun: "test.kwarg", tgt: "*" } });
  const expected = map({ k: 1, __pub_jid: "20260101000000000000", __pub_fun: "test.kwarg", __pub_tgt: "*" });
  assertEquals((await run("test.kwarg", ["k=1"], context)).return, expected);
});

Deno.test("an argument of a job cannot replace a publish field", async () => {
  const context = testContext({ job: { fun: "test.kwarg" } });
  for (const arg of [["k=1", "__pub_id=ca"], [map({ __kwarg__: true, k: 1, __pub_id: "ca" })]]) {
    assertEquals((await run("test.kwarg", arg, context)).return, map({ k: 1, __pub_fun: "test.kwarg" }));
  }
});

Deno.test("a minion in blackout runs only functions of the whitelist and saltutil.refresh_pillar", async () => {
  const grains = map({ minion_blackout: true, minion_blackout_whitelist: ["test.ping"] });
  const context = testContext({ grains });
  assertEquals((await run("test.ping", [], context)).return, true);
  assertEquals((await run("saltutil.refresh_pillar", [], context)).retcode, 0);
  assertStringIncludes(String((await run("test.echo", ["x"], context)).return), "Minion in blackout mode");
});

Deno.test("a job of several functions returns maps by function, including a failure", async () => {
  const job = { fun: ["test.echo", "nope.nope", "test.retcode"], arg: [["x"], [], [3]] };
  assertEquals(await executeMany(job, testContext()), {
    return: map({ "test.echo": "x", "nope.nope": "'nope.nope' is not available.", "test.retcode": true }),
    retcode: map({ "test.echo": 0, "nope.nope": 1, "test.retcode": 3 }),
    success: map({ "test.echo": true, "nope.nope": false, "test.retcode": false }),
  });
});

Deno.test("multifunc_ordered makes lists", async () => {
  const job = { fun: ["test.echo", "test.echo"], arg: [["x"], ["y"]] };
  assertEquals(await executeMany(job, testContext(), { ordered: true }), {
    return: ["x", "y"],
    retcode: [0, 0],
    success: [true, true],
  });
});
