/**
 * The functions of a minion and of a master with those in Python, as threads see them that may start a process and
 * those that may not. No Python runs.
 * @module
 */

import { CommandError, UnavailableError } from "#lib/errors.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { parseDescriptions } from "#lib/python_bridge/loader/descriptions.ts";
import type { PythonAccess } from "#lib/python_bridge/loader/python_calls.ts";
import { withPythonPlugins } from "#lib/python_bridge/loader/python_catalogue.ts";
import { withPythonFamily } from "#lib/python_bridge/loader/python_family.ts";
import { withPythonRenderers } from "#lib/python_bridge/loader/python_renderers.ts";
import { withPythonStates } from "#lib/python_bridge/loader/python_states.ts";
import { MissingPlugin } from "#lib/python_bridge/link/session.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

const PLUGINS = {
  files: { modules: { br: "/ext/br.py" }, runners: { br: "/ext/br.py" }, states: { br: "/ext/br.py" } },
  names: { modules: ["br"], runners: ["br"], states: ["br"], renderers: ["upper"] },
};
const DESCRIBED = map({
  functions: [{ name: "br.add", args: ["a", "b"], defaults: [2], doc: "Adds." }],
  refusals: {},
  problems: {},
  docs: {},
});
const GIVEN = { args: [], kwargs: new Map() };

/** How a thread without permissions reaches plugins: the calls are recorded. */
function recording(outcome: Readonly<Record<string, unknown>>) {
  const calls: Value[] = [];
  const access: PythonAccess = {
    plugins: PLUGINS,
    call: (fun, args, kwargs) => {
      calls.push([fun, [...args], kwargs]);
      return Promise.resolve(fun.startsWith("python/") ? map({ return: DESCRIBED, retcode: 0 }) : map(outcome));
    },
  };
  return { calls, access };
}

Deno.test("a thread that may start no process lists functions in Python and calls them elsewhere, with their return codes", async () => {
  const { calls, access } = recording({ return: 5, retcode: 3 });
  const catalogue = withPythonPlugins(loadCatalogue(), access);
  const context = testContext();
  const listed = (await catalogue.all()).find(({ name }) => name === "br.add");
  assert(listed !== undefined);
  assertEquals([await listed.fun.run({ a: 1, b: 2 }, context, GIVEN), context.retcode], [5, 3]);
  const named = await catalogue.get("br.other");
  assertEquals(await named?.run({}, testContext(), { args: [7], kwargs: map({ k: 1 }) }), 5);
  assertEquals(calls, [
    ["python/describe_modules", [], new Map()],
    ["br.add", [], map({ a: 1 })],
    ["br.other", [7], map({ k: 1 })],
  ]);
  const providers = await catalogue.providers();
  assertEquals([providers.get("br"), providers.get("test")], ["br", "test"]);
});

Deno.test("a thread that may start no process describes no plugins, renders no file in Python and runs no such state", async () => {
  const { access } = recording({});
  const catalogue = withPythonPlugins(loadCatalogue(), access), context = testContext();
  const describing = await catalogue.get("python/describe_states");
  await assertRejects(async () => await describing?.run({}, context, GIVEN), Error, "describes no plugins");
  for (const name of ["py.render", "upper.render"]) {
    const renderer = await catalogue.renderers?.get(name);
    const module = name.split(".")[0];
    await assertRejects(async () => await renderer?.run({}, context, GIVEN), CommandError, `${module} needs Python`);
  }
  const states = withPythonStates(catalogue.states, {
    plugins: PLUGINS,
    describe: () => Promise.resolve(parseDescriptions(DESCRIBED)),
  });
  const state = await states.get("br.add");
  const low = { low: new Map(), chunks: [], running: new Map(), test: false };
  const stateContext = Object.assign(testContext(), low) as unknown as Parameters<NonNullable<typeof state>["run"]>[1];
  await assertRejects(async () => await state?.run({ a: 1 }, stateContext, GIVEN), Error, "runs no states");
});

Deno.test("a renderer of a name that its file does not take is that of the executable", async () => {
  const fun = { doc: "built in", params: {}, run: () => null };
  const builtin = { get: (name: string) => Promise.resolve(name === "upper.render" ? fun : undefined) };
  const missing = (reason: string | null) => ({
    find: (_family: string, name: string) => Promise.resolve(new MissingPlugin(name, reason)),
    describe: () => Promise.reject(new Error("not asked")),
    request: () => Promise.reject(new Error("not asked")),
  });
  const renderers = (job: ReturnType<typeof missing>) => withPythonRenderers(builtin, { plugins: PLUGINS, job });
  assertEquals(await renderers(missing("it is not for this host")).get("upper.render"), fun);
  assertEquals(await renderers(missing(null)).get("lower.render"), undefined);
});

Deno.test("the files of a family are those of the executable and those in Python", async () => {
  const builtin = {
    get: () => Promise.resolve(undefined),
    all: () => Promise.resolve([]),
    serves: (module: string) => Promise.resolve(module === "jobs"),
    problems: () => new Map(),
    refusals: () => new Map(),
    providers: () => Promise.resolve(new Map([["jobs", "jobs"], ["br", "builtin"]])),
  };
  const family = withPythonFamily<JobContext>(builtin, {
    family: "runners",
    plugins: PLUGINS,
    find: (_family, fun) => Promise.reject(new UnavailableError(fun)),
    describe: () => Promise.resolve(parseDescriptions(DESCRIBED)),
    call: ({ fun }) => Promise.reject(new UnavailableError(fun)),
  });
  assertEquals([...await family.providers()], [["jobs", "jobs"], ["br", "br"]]);
  assertEquals([await family.serves("jobs"), await family.serves("br"), await family.serves("none")], [
    true,
    true,
    false,
  ]);
});
