/**
 * `salt.runner`, `salt.wheel` and `salt.parallel_runners`: functions of the master itself, in an orchestration.
 * Source: Salt 3008.3 `salt/states/saltmod.py`.
 * @module
 */

import { CommandError, CommandNotFoundError, InvocationError, messageOf } from "#lib/errors.ts";
import { formatNested } from "#lib/output/nested.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { fireCall } from "./args_event.ts";

/** The outcome of a function of the master. */
function outcomeOf(name: string, kind: "Runner" | "Wheel", answer: Value): StateResult {
  const out = mapOrEmpty(answer);
  const returned = out.get("return") ?? null;
  const success = !(isMap(returned) && returned.has("Error")) && truthy(out.get("success") ?? true);
  const jid = out.get("jid");
  return {
    name,
    changes: map({ return: returned }),
    result: success,
    comment: `${kind} function '${name}' ${success ? "executed" : "failed"}.`,
    ...typeof jid === "string" && { __jid__: jid },
  };
}

export const runner: ModuleFunction<StateContext> = stateFn({
  doc: `Run a runner of the master.

name
    The runner's function. All other arguments are its keyword arguments; \`arg\` (a list) and \`kwarg\` (a map) are passed too.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  passesKeywords: true,
  async run({ name }, context, { kwargs }) {
    if (context.test) {
      return { ...startResult(name, null), comment: `Runner function '${name}' would be executed.` };
    }
    const own = ownKeywords(kwargs);
    await fireCall({ type: "runner", name, args: [], kwargs: own }, context);
    const options = new Map(own).set("full_return", true);
    return outcomeOf(name, "Runner", await context.call("saltutil.runner", [name], options));
  },
});

export const wheel: ModuleFunction<StateContext> = stateFn({
  doc: `Run a wheel function of the master.

name
    The function. All other arguments are its keyword arguments.`,
  params: { name: p.str() },
  varKwargs: "kwargs",
  passesKeywords: true,
  async run({ name }, context, { kwargs }) {
    if (context.test) {
      return { ...startResult(name, null), comment: `Wheel function '${name}' would be executed.` };
    }
    const own = ownKeywords(kwargs);
    await fireCall({ type: "wheel", name, args: own }, context);
    return outcomeOf(name, "Wheel", await context.call("saltutil.wheel", [name], own));
  },
});

/** The requested runners, by the names that the state gives them. */
function wantedRunners(given: ValueMap): Map<string, { readonly fun: string; readonly kwarg: ValueMap }> {
  return new Map([...given].map(([id, config]) => {
    const pairs = Array.isArray(config) ? config.flatMap((one) => isMap(one) ? [...one] : []) : [];
    const settings: ValueMap = new Map(isMap(config) ? config : pairs);
    const kwarg = settings.get("kwarg");
    return [str(id), { fun: str(settings.get("name") ?? id), kwarg: mapOrEmpty(kwarg) }];
  }));
}

/** The changes in the results of states, at any depth. */
function changesIn(value: Value): Value {
  if (!isMap(value)) return new Map();
  const changes = value.get("changes");
  if (changes !== undefined) {
    const isRun = isMap(changes) && changes.get("out") === "highstate" && changes.has("ret");
    return isRun ? changes.get("ret") ?? null : changes;
  }
  return new Map(
    [...value].map(([key, one]): [Value, Value] => [key, changesIn(one)]).filter(([, one]) => truthy(one)),
  );
}

/** The outcome of runners that all run states. */
function judgeRuns(name: string, outputs: ReadonlyMap<string, ValueMap>): StateResult {
  const data = (output: ValueMap) => {
    return mapOrEmpty(output.get("data"));
  };
  const failures = [...outputs].filter(([, output]) => (toNumber(data(output).get("retcode") ?? 0) ?? 0) !== 0);
  const comment = failures.length === 0
    ? "All runner functions executed successfully."
    : failures.map(([id, output]) =>
      `Runner ${id} failed with return value:\n${formatNested(output, { color: false, nestedIndent: 2 })}`
    ).join("\n");
  const changes: ValueMap = new Map();
  for (const [id, output] of outputs) {
    const own = changesIn(data(output));
    if (truthy(own)) changes.set(id, own);
  }
  return { name, result: failures.length === 0, changes, comment };
}

function judgeReturns(name: string, outputs: ReadonlyMap<string, Value>): StateResult {
  const failures = [...outputs].filter(([, output]) => isMap(output) && truthy(output.get("exit_code")))
    .map(([id]) => id);
  const comment = failures.length === 0
    ? "All runner functions executed successfully."
    : failures.length === 1
    ? `Runner ${failures[0]} failed.`
    : `Runners ${failures.join(", ")} failed.`;
  return { name, result: failures.length === 0, changes: map({ ret: new Map(outputs) }), comment };
}

export const parallel_runners: ModuleFunction<StateContext> = stateFn({
  doc: `Run several runners of the master at the same time.

name
    A text, unique in the run.

runners
    A map from any name to a map with the runner's function (\`name\`) and its keyword arguments (\`kwarg\`), or to a function's name.`,
  params: { name: p.str(), runners: p.any() },
  varKwargs: "kwargs",
  async run({ name, runners }, context) {
    const given: Value = typeof runners === "string" ? map({ [runners]: null }) : runners;
    if (!isMap(given)) return failState(name, "The runners parameter must be a string or dict.");
    const wanted = wantedRunners(given);
    const call = async ({ fun, kwarg }: { readonly fun: string; readonly kwarg: ValueMap }) => {
      const out = await context.call("saltutil.runner", [fun], new Map([...kwarg, ["full_return", true]]));
      return isMap(out) ? out.get("return") ?? null : null;
    };
    let returned: Value[];
    try {
      returned = await Promise.all([...wanted.values()].map(call));
    } catch (error) {
      const isExpected = [CommandError, CommandNotFoundError, InvocationError].some((kind) => error instanceof kind);
      if (!isExpected) throw error;
      return failState(name, `One of the runners raised an exception: ${messageOf(error)}`);
    }
    const outputs = new Map([...wanted.keys()].map((id, i) => [id, returned[i]]));
    const runs = new Map<string, ValueMap>();
    for (const [id, output] of outputs) {
      if (isMap(output) && output.get("outputter") === "highstate" && output.has("data")) runs.set(id, output);
    }
    return runs.size === outputs.size ? judgeRuns(name, runs) : judgeReturns(name, outputs);
  },
});
