/**
 * What is answered to plugins of jobs and of pillar sources. A scripted process asks in place of Python.
 * @module
 */

import type { TopContext } from "#lib/plugins/top_source.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { PythonJob } from "#lib/python_bridge/loader/python_job.ts";
import { NO_PYTHON_PLUGINS } from "#lib/python_bridge/loader/python_files.ts";
import { withPythonTops } from "#lib/python_bridge/loader/python_pillar.ts";
import { MINION_ANSWERS } from "#lib/python_bridge/loader/questions.ts";
import { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { type ProcessScript, ScriptedProcess } from "#tests/support/servers/scripted_process.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Questions, and the answers to them. */
type Asked = readonly (readonly [what: string, fields: Readonly<Record<string, unknown>>, answer: unknown])[];

/** A process that asks during its first request. */
function asking(asked: Asked): { readonly script: ProcessScript; readonly answers: unknown[] } {
  const answers: unknown[] = [];
  const script: ProcessScript = {
    async answer(_kind, ask) {
      for (const [what, fields] of asked) answers.push(await ask(what, fields));
      return { value: "done" };
    },
  };
  return { script, answers };
}

const CALL = { fun: "test.echo", args: [], kwargs: {} };
const STATE = { ...CALL, fun: "file.absent" };

Deno.test("a plugin of a job is refused questions that nobody answers, and states outside of a run of states", () =>
  withTemporaryDirectory(async (root) => {
    const asked: Asked = [
      ["call", { ...CALL, args: ["x"] }, "x"],
      ["has", { family: "states", fun: "file.absent" }, true],
      ["weather", {}, ["CommandExecutionError", "the bridge has no answer to weather"]],
      ["state", STATE, ["SaltInvocationError", "file.absent is called outside of a run of states"]],
    ];
    const { script, answers } = asking(asked);
    using _process = new ScriptedProcess(`${root}/s`, script);
    const context = testContext();
    const job = new PythonJob({
      ...MINION_ANSWERS,
      plugins: NO_PYTHON_PLUGINS,
      log: SILENT_LOGGER,
      socket: () => Promise.resolve(`${root}/s`),
      context: () => context,
      isHidden: () => true,
    });
    assertEquals((await job.request({ kind: "problems" }, context)).value, "done");
    assertEquals(answers, asked.map(([, , answer]) => answer));
    await job.end();
  }));

Deno.test("a plugin in a run of states calls a state by the names of its arguments, or with its name alone", () =>
  withTemporaryDirectory(async (root) => {
    const result = map({ name: "/x", result: true, changes: {}, comment: "" });
    const { script, answers } = asking([
      ["state", { ...STATE, args: ["/x"], kwargs: { k: 1 } }, result],
      ["state", { ...STATE, args: ["/x", "/y"] }, undefined],
    ]);
    using _process = new ScriptedProcess(`${root}/s`, script);
    const called: unknown[] = [];
    const context = Object.assign(testContext(), {
      state: (name: string, kwargs: unknown) => {
        called.push([name, kwargs]);
        return Promise.resolve(result);
      },
    });
    const job = new PythonJob({
      ...MINION_ANSWERS,
      plugins: NO_PYTHON_PLUGINS,
      log: SILENT_LOGGER,
      socket: () => Promise.resolve(`${root}/s`),
      context: () => context,
      isHidden: () => true,
    });
    await job.request({ kind: "problems" }, context);
    assertEquals(answers, [result, ["SaltInvocationError", "file.absent takes its arguments by name"]]);
    assertEquals(called, [["file.absent", map({ k: 1, name: "/x" })]]);
    await job.end();
  }));

Deno.test("a source of master_tops has options and the names of functions, and can call none", () =>
  withTemporaryDirectory(async (root) => {
    const { script, answers } = asking([
      ["opts", {}, undefined],
      ["grains", {}, undefined],
      ["pillar", {}, undefined],
      ["has", { fun: "test.ping" }, undefined],
      ["names", {}, undefined],
      ["call", CALL, undefined],
      ["weather", {}, undefined],
    ]);
    using process = new ScriptedProcess(`${root}/s`, {
      ...script,
      answer: async (kind, ask) => {
        await script.answer?.(kind, ask);
        return { value: { base: ["web"] } };
      },
    });
    const settings = { cachedir: root, python: null, sock_dir: root, custom_module_memory: 1 };
    const lease = Object.assign(new PythonLease(settings, { printed: () => {}, keeps: true }), {
      lend: () => ({ socket: () => Promise.resolve(`${root}/s`), close: () => Promise.resolve() }),
    });
    const plugins = { files: { tops: { br: "/ext/br.py" } }, names: { tops: ["br"] } };
    const none = {
      get: (_name: string): Promise<ModuleFunction<TopContext> | undefined> => Promise.resolve(undefined),
    };
    const tops = withPythonTops(none, { plugins, lease, log: SILENT_LOGGER }, loadCatalogue());
    assertEquals(await tops.get("other.top"), undefined);
    const source = await tops.get("br.top");
    assert(source !== undefined);
    await using untilEnd = new AsyncDisposableStack();
    const opts = map({ id: "master", grains: { os: "own" } });
    const context: TopContext = {
      minionId: "m1",
      opts,
      minionOpts: map({ id: "m1" }),
      grains: map({ os: "x" }),
      setting: null,
      signal: new AbortController().signal,
      untilEnd,
      log: () => {},
    };
    const found = await source.run({}, context, { args: [], kwargs: new Map() });
    assertEquals(found, map({ base: ["web"] }));
    const [given, grains, pillar, has, names, call, weather] = answers;
    assertEquals([given, grains, pillar, has], [opts, map({ os: "own" }), new Map(), true]);
    assert(Array.isArray(names) && names.includes("test.echo") && !names.includes("file.absent"));
    assertEquals(call, ["KeyError", "test.echo"]);
    assertEquals(weather, ["CommandExecutionError", "the bridge has no answer to weather"]);
    assertEquals(process.requests, ["call"]);
  }));
