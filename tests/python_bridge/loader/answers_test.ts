/**
 * What is answered to plugins in Python, and refused: without a Python.
 * @module
 */

import {
  CommandError,
  CommandNotFoundError,
  InvocationError,
  PluginError,
  RenderError,
  UnavailableError,
  WireError,
} from "#lib/errors.ts";
import { errorOf, pythonRefusal } from "#lib/python_bridge/link/exceptions.ts";
import { answerByCalls, type CallingHost } from "#lib/python_bridge/loader/answers_by_calls.ts";
import { outcomeOf } from "#lib/python_bridge/loader/python_calls.ts";
import { findPythonPlugins } from "#lib/python_bridge/loader/python_files.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A host whose functions say how they were called. */
const HOST: CallingHost = {
  opts: () => map({ id: "m1" }),
  grains: () => map({ os: "x" }),
  pillar: () => map({ p: 1 }),
  call: (fun, args, kwargs) =>
    Promise.resolve(fun === "sys.doc" ? map({ [String(args[0])]: "a doc" }) : [fun, [...args], kwargs]),
};

const ask = (what: string, fields: Readonly<Record<string, unknown>> = {}, host: Partial<CallingHost> = {}) =>
  answerByCalls({ what, fields: map(fields) }, { ...HOST, ...host });

Deno.test("a plugin beside the jobs has its host's data, functions and texts", async () => {
  assertEquals([await ask("opts"), await ask("grains"), await ask("pillar")], [
    map({ id: "m1" }),
    map({ os: "x" }),
    map({ p: 1 }),
  ]);
  assertEquals([await ask("names", { family: "modules" }), await ask("names", { family: "runners" })], [
    ["sys.list_functions", [], new Map()],
    [],
  ]);
  assertEquals([await ask("doc", { fun: "test.ping" }), await ask("yaml_load", { text: "a: [1]" })], [
    "a doc",
    map({ a: [1] }),
  ]);
  assertEquals(await ask("yaml_dump", { value: { a: [1] }, flow: true }), "a: [1]\n");
  assertEquals(await ask("format", { value: { a: 1 }, out: "json" }), '{\n    "a": 1\n}');
  assertEquals(await ask("call", { fun: "test.arg", args: [1], kwargs: { k: 2 } }), ["test.arg", [1], map({ k: 2 })]);
});

Deno.test("a plugin beside the jobs finds functions by names, not by patterns", async () => {
  const isThere = (fun: string, found: Value[], family = "modules") =>
    ask("has", { family, fun }, { call: () => Promise.resolve(found) });
  assertEquals([await isThere("test.ping", ["test.ping"]), await isThere("test.none", [])], [true, false]);
  assertEquals([await isThere("test.*", ["test.ping"]), await isThere("test.ping", ["x"], "states")], [false, false]);
  assertEquals(await ask("has", { family: "modules", fun: "test.x" }, { has: () => Promise.resolve(false) }), false);
});

Deno.test("a question whose fields are of other types, or that such a plugin cannot ask, is refused", async () => {
  const call = { fun: "test.ping", args: [], kwargs: {} };
  for (const wrong of [{ fun: 5 }, { args: "x" }, { args: null }, { kwargs: [] }]) {
    await assertRejects(() => ask("call", { ...call, ...wrong }), WireError);
  }
  await assertRejects(() => ask("yaml_load", {}), WireError, "text is no text");
  await assertRejects(() => ask("state", call), CommandError, "such a plugin cannot use state");
});

const REFUSALS: readonly (readonly [error: unknown, kind: string, text: string])[] = [
  [new CommandError("a"), "CommandExecutionError", "a"],
  [new CommandNotFoundError("b"), "CommandNotFoundError", "b"],
  [new InvocationError("c"), "SaltInvocationError", "c"],
  [new InvocationError("d", "usage"), "TypeError", "d"],
  [new UnavailableError("no.such"), "KeyError", "no.such"],
  [new RenderError("e"), "SaltRenderError", "e"],
  [new PluginError("ValueError", "f", "trace"), "ValueError", "f"],
  [new RangeError("g"), "Exception", "g"],
];

for (const [error, kind, text] of REFUSALS) {
  Deno.test(`an error is raised in Python as ${kind}: ${text}`, () => {
    assertEquals(pythonRefusal(error), { class: kind, text, info: null, short: "" });
  });
}

Deno.test("an exception of Python keeps its class and its facts on the way back, and a failure has its changes", () => {
  const bases = ["MyError", "CommandExecutionError"], info = map({ changes: { a: 1 } });
  const back = pythonRefusal(errorOf({ kind: "MyError", bases, text: "t", trace: "trace", info, short: "s" }));
  assertEquals([back.class, back.text, back.info, back.short], ["MyError", "t", info, "s"]);
  const own = pythonRefusal(new CommandError("all of it", { info: { message: "short" } }));
  assertEquals(own, { class: "CommandExecutionError", text: "all of it", info: "all of it", short: "short" });
});

Deno.test("a function that another thread calls has its return code, and its error as a text", async () => {
  const outcome = (value: Value) =>
    outcomeOf(
      "a.b",
      [],
      new Map(),
      { call: () => Promise.resolve(value) } as unknown as Parameters<typeof outcomeOf>[3],
    );
  assertEquals(await outcome(map({ return: 5, retcode: 3 })), { result: 5, retcode: 3 });
  assertEquals(await outcome(map({})), { result: null, retcode: 1 });
  await assertRejects(() => outcome(null), CommandError, "a.b has no outcome");
  await assertRejects(() => outcome(map({ error: { message: "it broke" } })), CommandError, "it broke");
});

Deno.test("python_plugins names the files that are loaded; one with a twin in TypeScript is left out by name", () =>
  withTemporaryDirectory((root) => {
    for (const name of ["one", "two", "twin", "off", "hidden"]) Deno.writeTextFileSync(`${root}/${name}.py`, "");
    const find = (allowed: boolean | string[]) => {
      const warnings: string[] = [];
      const { files } = findPythonPlugins({ modules: [root] }, {
        allowed,
        isLoaded: (_family, name) => name !== "off",
        others: () => new Set(["twin", "off"]),
        warn: (text) => warnings.push(text),
      });
      return [Object.keys(files.modules ?? {}), warnings];
    };
    const warning = `${root}/twin.py is not loaded: a module in TypeScript or JavaScript has its name`;
    assertEquals(find(["one", "two", "none"]), [["one", "two"], []]);
    assertEquals(find(["one", "twin", "off"]), [["one"], [warning]]);
    assertEquals(find(true), [["hidden", "one", "two"], [warning]]);
    assertEquals(find(false), [[], []]);
    assertEquals(find([]), [[], []]);
  }));
