/**
 * State module `loop`: waits until a function gives what is wanted.
 * Source: Salt 3008.3 `salt/states/loop.py`.
 * @module
 */

import { CommandError, CommandNotFoundError, InvocationError, messageOf, PythonError } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn } from "#lib/plugins/state_module.ts";
import { conditionHolds } from "#lib/jinja/salt/condition.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { compare, equals, isAmong, isMap, str, toNumber, truthy, type Value } from "#lib/values/value.ts";

/** Seconds as a number; `undefined` for other values. */
function seconds(value: Value): number | undefined {
  return typeof value === "string" ? undefined : toNumber(value);
}

export const until: ModuleFunction<StateContext> = stateFn({
  doc: `Call a function repeatedly until a condition holds.

name
    The execution function.

m_args, m_kwargs
    Its arguments: a list, and a map.

condition
    A Python expression with \`m_ret\`, the function's result. It is evaluated as a Jinja expression, in which \`len\`, \`str\`,
    \`bool\`, \`any\` and \`all\` can be called.

period : 1
    Seconds between calls.

timeout : 60
    Seconds after which the state fails.`,
  params: {
    name: p.str(),
    m_args: p.any(null),
    m_kwargs: p.any(null),
    condition: p.any(null),
    period: p.any(1),
    timeout: p.any(60),
  },
  async run({ name, m_args, m_kwargs, condition, period, timeout }, context) {
    if (await context.catalogue.get(name) === undefined) return failState(name, `Cannot find module ${name}`);
    if (condition === null) return failState(name, "An exit condition must be specified");
    const [pause, limit] = [seconds(period), seconds(timeout)];
    if (pause === undefined) return failState(name, "Period must be specified as a float in seconds");
    if (limit === undefined) return failState(name, "Timeout must be specified as a float in seconds");
    if (context.test) return { ...startResult(name, null), comment: `The execution module ${name} will be run` };
    const end = performance.now() + limit * 1000;
    while (performance.now() < end) {
      const returned = await context.call(name, [...listOrEmpty(m_args)], new Map(mapOrEmpty(m_kwargs)));
      if (await conditionHolds(str(condition), new Map([["m_ret", returned]]))) {
        return { ...startResult(name), comment: `Condition ${str(condition)} was met` };
      }
      await sleep(pause * 1000, context.signal);
    }
    return failState(name, `Timed out while waiting for condition ${str(condition)}`);
  },
});

type Comparison = (got: Value, expected: Value) => boolean | Promise<boolean>;

/** Python's comparison operators. */
const OPERATORS: Readonly<Record<string, Comparison>> = {
  lt: (got, expected) => compare(got, expected) < 0,
  le: (got, expected) => compare(got, expected) <= 0,
  eq: equals,
  ne: (got, expected) => !equals(got, expected),
  ge: (got, expected) => compare(got, expected) >= 0,
  gt: (got, expected) => compare(got, expected) > 0,
  contains: (got, expected) => holds(got, expected),
};

function holds(got: Value, item: Value): boolean {
  if (typeof got === "string") return got.includes(str(item));
  const items = isMap(got) ? [...got.keys()] : listOrEmpty(got);
  return isAmong(item, items);
}

async function comparison(name: string, context: StateContext): Promise<Comparison | undefined> {
  if (await context.catalogue.get(name) !== undefined) {
    return async (got, expected) => truthy(await context.call(name, [got, expected]));
  }
  return Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
}

/** Python's class of an error, as its `repr`. */
function errorClass(error: unknown): string {
  if (error instanceof CommandNotFoundError) return "<class 'salt.exceptions.CommandNotFoundError'>";
  if (error instanceof CommandError) return "<class 'salt.exceptions.CommandExecutionError'>";
  if (error instanceof InvocationError) return "<class 'salt.exceptions.SaltInvocationError'>";
  return error instanceof PythonError ? `<class '${error.type}'>` : "<class 'Exception'>";
}

export const until_no_eval: ModuleFunction<StateContext> = stateFn({
  doc: `Call a function repeatedly until its result compares as expected.

name
    The execution function.

expected
    The value to compare its result with.

compare_operator : eq
    \`lt\`, \`le\`, \`eq\`, \`ne\`, \`ge\`, \`gt\`, \`contains\`, or an execution function of two arguments.

timeout : 60
    Seconds after which the state fails.

period : 1
    Seconds between calls.

init_wait : 0
    Seconds before the first call.

args, kwargs
    The function's arguments: a list, and a map.`,
  params: {
    name: p.str(),
    expected: p.any(),
    compare_operator: p.str("eq"),
    timeout: p.any(60),
    period: p.any(1),
    init_wait: p.any(0),
    args: p.any(null),
    kwargs: p.any(null),
  },
  async run({ name, expected, compare_operator, timeout, period, init_wait, args, kwargs }, context) {
    const [pause, limit] = [seconds(period), seconds(timeout)];
    const compared = await comparison(compare_operator, context);
    let refused: string | undefined;
    if (await context.catalogue.get(name) === undefined) refused = `Module.function "${name}" is unavailable.`;
    else if (pause === undefined) refused = "Period must be specified as a float in seconds";
    else if (limit === undefined) refused = "Timeout must be specified as a float in seconds";
    else if (compared === undefined) refused = `Invalid operator "${compare_operator}" supplied.`;
    if (context.test) {
      const comment = `Would have waited for "${name}" to produce "${str(expected)}".`;
      return { ...startResult(name, null), comment };
    }
    if (refused !== undefined || pause === undefined || limit === undefined || compared === undefined) {
      return failState(name, refused ?? "");
    }
    await sleep((seconds(init_wait) ?? 0) * 1000, context.signal);
    let attempts = 0;
    const end = performance.now() + limit * 1000;
    while (performance.now() < end) {
      attempts++;
      let answer: Value;
      try {
        answer = await context.call(name, [...listOrEmpty(args)], new Map(mapOrEmpty(kwargs)));
      } catch (error) {
        const text = `${errorClass(error)}:${messageOf(error)}`;
        return failState(name, `Exception occurred while executing ${name}: ${text}`);
      }
      if (await compared(answer, expected)) {
        return { ...startResult(name), comment: `Call provided the expected results in ${attempts} attempts` };
      }
      await sleep(pause * 1000, context.signal);
    }
    return failState(name, `Call did not produce the expected result after ${attempts} attempts`);
  },
});
