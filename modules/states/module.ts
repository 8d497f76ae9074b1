/**
 * State module `module`: functions of execution modules as states.
 * Source: Salt 3008.3 `salt/states/module.py`.
 * @module
 */

import { listedArguments, namedArguments } from "./_function_call.ts";
import { InvocationError, messageOf } from "#lib/errors.ts";
import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { returnerNames } from "#lib/returners/names.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

const WAIT = {
  doc: "Call functions, as `run` does, only if a watched state has changes.\n\n" +
    "name\n    As in `run`.",
  params: { name: p.any() },
  varKwargs: "kwargs",
  run: ({ name }: { readonly name: Value }) => startResult(name),
};

export const wait: ModuleFunction<StateContext> = stateFn(WAIT);

export const watch: ModuleFunction<StateContext> = stateFn({ ...WAIT, doc: "Another name of `wait`." });

/** Keywords that are not for the function or its arguments. */
const OF_THE_RUN: readonly string[] = ["name", "__reqs__", "sfun"];

/** Whether a function's return is a success: not False, and no map with such a `result` or `retcode`. */
function isSuccess(returned: Value): boolean {
  if (typeof returned === "boolean") return returned;
  return !isMap(returned) || [...returned].every(([key, value]) => {
    if (key === "result" && value === false) return false;
    if (key === "retcode" && value !== 0) return false;
    return !isMap(value) || isSuccess(value);
  });
}

/**
 * Gives what a function returned to the returners that the keyword names; Salt finds them only as `NAME.returner`.
 * @returns Warnings: Salt silently skips missing ones.
 */
async function giveToReturners(
  kwargs: ValueMap,
  { fun, returned }: { readonly fun: string; readonly returned: Value },
  context: StateContext,
): Promise<string[]> {
  const given = kwargs.get("returner") ?? null;
  const { names, refused } = returnerNames(typeof given === "string" ? given.replace(/\.returner$/, "") : given);
  const warnings = refused.map((name) => `There is no returner '${name}'. Nothing was sent to it.`);
  const ret = map({
    id: context.opts.id,
    ret: returned,
    return: returned,
    fun,
    jid: makeJid(),
    success: isSuccess(returned),
  });
  for (const name of names) {
    const full = `returners/${name}.returner`;
    if (await context.catalogue.get(full) === undefined) {
      warnings.push(`There is no returner '${name}'. Nothing was sent to it.`);
      continue;
    }
    try {
      await context.call(full, [new Map(ret)]);
    } catch (error) {
      context.signal.throwIfAborted();
      warnings.push(`The returner '${name}' did not take the return: ${messageOf(error)}`);
    }
  }
  return warnings;
}

/** The new form: each keyword with a point is a function, its value the list of its arguments. */
async function runListed(kwargs: ValueMap, context: StateContext): Promise<StateResult> {
  const name = [...kwargs.keys()];
  const functions: { readonly key: string; readonly fun: ModuleFunction<JobContext> }[] = [];
  const missing: string[] = [];
  for (const key of name.map(str).filter((key) => key.includes("."))) {
    const fun = await context.catalogue.get(functionOf(key));
    if (fun === undefined) missing.push(functionOf(key));
    else functions.push({ key, fun });
  }
  const callable = functions.map(({ key }) => functionOf(key));
  if (missing.length > 0 || context.test) {
    // Salt writes a bool instead of the plural's letter.
    const plural = (listed: readonly string[]) => listed.length > 1 ? "True" : "";
    const sentences = [
      missing.length > 0 ? `Unavailable function${plural(missing)}: ${missing.join(", ")}.` : "",
      callable.length > 0 && context.test ? `Function${plural(callable)} ${callable.join(", ")} to be executed.` : "",
    ];
    return { ...startResult(name, missing.length > 0 ? false : null), comment: sentences.join(" ").trim() };
  }
  const failures: string[] = [];
  const successes: string[] = [];
  const changes: ValueMap = new Map();
  const warnings: string[] = [];
  for (const { key, fun } of functions) {
    try {
      const { args, kwargs: keywords } = listedArguments(fun, kwargs.get(key) ?? null);
      const returned = await context.call(functionOf(key), args, keywords);
      warnings.push(...await giveToReturners(kwargs, { fun: functionOf(key), returned }, context));
      if (isSuccess(returned)) {
        successes.push(`${key}: ${str(isMap(returned) ? returned.get("comment") ?? "Success" : returned)}`);
        changes.set(key, returned);
      } else if (isMap(returned)) {
        failures.push(`'${key}' failed: ${str(returned.get("comment") ?? "(error message N/A)")}`);
      } else {
        failures.push(`'${key}': ${str(returned)}`);
      }
    } catch (error) {
      if (!(error instanceof InvocationError)) throw error;
      failures.push(`'${key}' failed: ${error.message}`);
    }
  }
  const comment = [...failures, ...successes].join(", ");
  return { name, changes, comment, result: failures.length === 0, ...warnings.length > 0 && { warnings } };
}

/** A keyword's function: `test.echo:1` and `test.echo:2` are two calls of one. */
function functionOf(key: string): string {
  return key.split(":", 1)[0];
}

/** The old form: the name is the function, the other keywords are its parameters. */
async function runNamed(fun: Value, kwargs: ValueMap, context: StateContext): Promise<StateResult> {
  const name = str(fun);
  const called = await context.catalogue.get(name);
  if (called === undefined) return failState(fun, `Module function ${name} is not available`);
  if (context.test) {
    return { ...startResult(fun, null), comment: `Module function ${name} is set to execute` };
  }
  const given = namedArguments(called, kwargs);
  if ("problem" in given) return failState(fun, given.problem);
  const warnings = given.left.filter((key) => key !== "returner")
    .map((key) => `${name} takes no argument '${key}'. It has no effect.`);
  try {
    const returned = await context.call(name, given.args, given.kwargs);
    warnings.push(...await giveToReturners(kwargs, { fun: name, returned }, context));
    return {
      name: fun,
      changes: new Map([["ret", returned]]),
      comment: `Module function ${name} executed`,
      result: isSuccess(returned),
      ...warnings.length > 0 && { warnings },
    };
  } catch (error) {
    context.signal.throwIfAborted();
    return {
      ...failState(fun, `Module function ${name} threw an exception. Exception: ${messageOf(error)}`),
      ...warnings.length > 0 && { warnings },
    };
  }
}

function runEither(context: StateContext, kwargs: ValueMap): Promise<StateResult> {
  const keys = [...kwargs.keys()].map(str).filter((key) => !OF_THE_RUN.includes(key));
  if (keys.length > 0 && keys.every((key) => key.includes("."))) {
    return runListed(new Map([...kwargs].filter(([key]) => key !== "name")), context);
  }
  const own = new Map([...kwargs].filter(([key]) => !OF_THE_RUN.includes(str(key))));
  return runNamed(kwargs.get("name") ?? null, own, context);
}

export const run: ModuleFunction<StateContext> = stateFn({
  doc:
    `Call functions of execution modules. Their results are in the changes; False, and a map whose \`result\` is False or
whose \`retcode\` is not 0, is a failure.

There are two forms. In the new one each argument is a function, with the list of its arguments:

    - test.echo:
      - text: hello
    - test.arg:
      - 1
      - key: value

In the old one \`name\` is the function, and the other arguments are its parameters. Parameters called name, fun, names, state
or saltenv need the prefix \`m_\`; \`args\` is a list of further positional arguments and \`kwargs\` a map of
further keywords, if the function accepts them.

    - name: test.arg
    - args: [1]
    - kwargs: {key: value}`,
  params: {},
  varKwargs: "kwargs",
  run: (_bound, context, { kwargs }) => runEither(context, kwargs),
});

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: "Called when a watched state has changes: does what `run` does.",
  params: {},
  varKwargs: "kwargs",
  run: (_bound, context, { kwargs }) => runEither(context, kwargs),
});
