/**
 * Calls of state functions on a directory of files, with the results of Python Salt: the cases of
 * `corpus/state_results`, in the format of `corpus/make_state_results.py`. Each run of a case has its own directory.
 * @module
 */

import { CommandError, CommandNotFoundError, describeError, InvocationError } from "#lib/errors.ts";
import { pythonError } from "#lib/python/errors.ts";
import { bind } from "#lib/plugins/call.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import type { Catalogue, JobContext } from "#lib/plugins/job_context.ts";
import { compare, equals, isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { build, listAt, mapAt, replaceIn, ROOT, snapshot, unpack, without } from "./call_cases.ts";
import { testContext, testOpts } from "./job_context.ts";
import { callState } from "./state_call.ts";

/** The result of a case: Python Salt's and ours. */
export interface ComparedState {
  readonly expected: ValueMap;
  readonly actual: ValueMap;
}

/** Execution functions with the answers of a case, and a record of their calls. */
class Answers {
  readonly calls: ValueMap[] = [];
  readonly #answers: ValueMap;
  readonly #counts = new Map<string, number>();

  constructor(entry: ValueMap, readonly root: string, readonly catalogue: Catalogue) {
    this.#answers = mapOf(replaceIn(mapAt(entry, "answers"), ROOT, root));
  }

  get isEmpty(): boolean {
    return this.#answers.size === 0;
  }

  has(name: string): boolean {
    return this.#answers.has(name);
  }

  async answer(name: string, args: readonly Value[], kwargs: ValueMap): Promise<Value> {
    this.calls.push(await this.#call(name, args, kwargs));
    const answer = this.#answers.get(name) ?? null;
    if (!isMap(answer)) return answer;
    const then = answer.get("then");
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    const one = Array.isArray(then) ? then[Math.min(count, then.length - 1)] : answer;
    const raised = isMap(one) ? one.get("raise") : undefined;
    if (raised === undefined || !isMap(one)) return one;
    const message = str(one.get("message") ?? "");
    if (raised === "AttributeError") throw pythonError(raised, message);
    if (raised === "KeyError") throw pythonError(raised, repr(message));
    if (raised === "SaltInvocationError") throw new InvocationError(message);
    throw raised === "CommandNotFoundError" ? new CommandNotFoundError(message) : new CommandError(message);
  }

  /** A call with named arguments, without arguments that have their default value. */
  async #call(name: string, args: readonly Value[], kwargs: ValueMap): Promise<ValueMap> {
    const fun = await this.catalogue.get(name);
    if (fun === undefined) throw new Error(`There is no function ${name}`);
    // The function would refuse arguments that do not match its parameters.
    bind(fun, args, kwargs, name);
    const names = Object.keys(fun.params);
    const named: ValueMap = new Map(kwargs);
    args.slice(0, names.length).forEach((arg, i) => named.set(names[i], arg));
    for (const [key, value] of named) {
      const usual = fun.params[str(key)]?.default;
      if (usual !== undefined && equals(usual, value)) named.delete(key);
    }
    const more = args.slice(names.length);
    return map({
      fun: name,
      kwargs: replaceIn(sorted(named), this.root, ROOT),
      ...more.length > 0 && { args: replaceIn(more, this.root, ROOT) },
    });
  }
}

function mapOf(value: Value): ValueMap {
  return isMap(value) ? value : new Map();
}

/** A mutable copy. */
function copy(value: Value): Value {
  if (Array.isArray(value)) return value.map(copy);
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, copy(item)])) : value;
}

function sorted(value: ValueMap): ValueMap {
  return new Map([...value].sort(([a], [b]) => compare(a, b)));
}

/** The catalogue of a minion that lacks some functions. */
function lacking(catalogue: Catalogue, absent: readonly Value[], answers: () => Answers): Catalogue {
  return {
    states: catalogue.states,
    builtInRenderers: catalogue.builtInRenderers,
    fileBackends: catalogue.fileBackends,
    all: () => catalogue.all(),
    serves: (module) => catalogue.serves(module),
    problems: () => catalogue.problems(),
    refusals: () => catalogue.refusals(),
    providers: () => catalogue.providers(),
    get: (name) => absent.includes(name) && !answers().has(name) ? Promise.resolve(undefined) : catalogue.get(name),
  };
}

interface Run {
  readonly entry: ValueMap;
  readonly table: ValueMap;
  readonly root: string;
  readonly home: string;
  readonly grains: ValueMap;
}

async function runOnce({ entry, table, root, home, grains }: Run, test: boolean): Promise<ValueMap> {
  const options = mapOf(replaceIn(mapAt(table, "opts"), ROOT, root));
  const config = options.get("config_dir");
  const opts = testOpts({
    file_client: "local",
    root_dir: home,
    file_roots: map({ base: [`${root}/srv`] }),
    ...Object.fromEntries([...options].map(([key, value]) => [str(key), value])),
  });
  const real = loadCatalogue({ grains: () => grains });
  const answers: Answers = new Answers(entry, root, real);
  const catalogue = lacking(real, listAt(entry, "absent"), () => answers);
  const job: JobContext = testContext({
    grains,
    opts: { ...opts, test, ...typeof config === "string" && { config_dir: config } },
    catalogue,
    pillar: mapAt(table, "pillar"),
  });
  const kwargs = mapOf(replaceIn(mapAt(entry, "kwargs"), ROOT, root));
  const ours: ValueMap = new Map();
  try {
    const ret = await callState(str(entry.get("fun") ?? ""), kwargs, {
      test,
      job,
      state: {
        call: (name, args = [], named = new Map()) => {
          if (name === "network.interfaces" && entry.has("interfaces")) {
            return Promise.resolve(copy(entry.get("interfaces") ?? null));
          }
          if (answers.has(name)) return answers.answer(name, args, named);
          // A case with answers must not touch the host.
          if (!answers.isEmpty && !listAt(table, "real").includes(name)) throw new Error(`${name} has no answer`);
          return callFunction(name, { args, kwargs: named, context: job });
        },
      },
    });
    for (const [key, value] of ret) ours.set(key, replaceIn(value, root, ROOT));
    if (entry.get("unordered") === true) {
      ours.set("comment", str(ours.get("comment") ?? "").split("\n").sort().join("\n"));
    }
  } catch (error) {
    const own = error instanceof CommandError || error instanceof InvocationError;
    ours.set("error", own ? replaceIn(error.message, root, ROOT) : describeError(error));
  }
  if (mapAt(entry, "answers").size > 0) ours.set("calls", answers.calls);
  return mapOf(
    without(steady(replaceIn(replaceIn(ours, opts.cachedir, "{CACHE}"), Deno.cwd(), "{CWD}")), listAt(entry, "drop")),
  );
}

/** Replaces names and numbers that differ from run to run. */
function steady(value: Value): Value {
  if (typeof value === "string") {
    return value.replace(/[^\s'"]*__salt\.tmp\.\w+/g, "{TMP}").replace(/(?<=pid:\n)( *)\d+/g, "$1{PID}");
  }
  if (Array.isArray(value)) return value.map(steady);
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, steady(item)])) : value;
}

/** The expected result of a run. Python Salt shows an error other than its own as a stack trace. */
function expectedRun(entry: ValueMap, key: string, ours: ValueMap): ValueMap {
  const other = mapAt(mapAt(entry, "ours"), key);
  const recorded = mapOf(unpack(entry.get(key) ?? null));
  const theirs = recorded.has("error") && other.size > 0 ? new Map() : recorded;
  for (const [field, value] of other) theirs.set(field, value);
  if (theirs.get("error") === "" && typeof ours.get("error") === "string") ours.set("error", "");
  return theirs;
}

/**
 * Runs a case in test mode, then twice without it.
 * @param table The file of the case.
 */
export async function compareState(table: ValueMap, entry: ValueMap): Promise<ComparedState> {
  const expected: ValueMap = new Map(), actual: ValueMap = new Map();
  const put = (key: string, ours: ValueMap) => {
    expected.set(key, expectedRun(entry, key, ours));
    actual.set(key, ours);
  };
  for (const [key, tree] of [["test", "tested"], ["run", "after"]]) {
    const root = await Deno.makeTempDir({ prefix: "states_" });
    const home = await Deno.makeTempDir({ prefix: "minion_" });
    try {
      const tmp = await Deno.realPath(root);
      await build(tmp, mapOf(replaceIn(mapAt(entry, "tree"), ROOT, tmp)));
      const before = snapshot(tmp);
      const grains = map({ id: "web1", kernel: "Linux", os_family: "Debian", os: "Debian" });
      for (const [name, value] of mapOf(copy(mapAt(table, "grains")))) grains.set(name, value);
      const run = { entry, table, root: tmp, home, grains };
      put(key, await runOnce(run, key === "test"));
      const after = snapshot(tmp);
      if (!equals(before, after)) actual.set(tree, replaceIn(after, tmp, ROOT));
      const own = mapAt(entry, "ours");
      // Null: ours leaves the tree as it was.
      const left = own.has(tree) ? own.get(tree) : entry.get(tree);
      if (left !== undefined && left !== null) expected.set(tree, left);
      if (key === "run" && entry.has("again")) put("again", await runOnce(run, false));
    } finally {
      await Deno.remove(root, { recursive: true });
      await Deno.remove(home, { recursive: true });
    }
  }
  return { expected, actual };
}
