/**
 * Executors: plugins that call the function of a job, in place of this program. Those that a job or the option
 * `module_executors` names are asked one after the other, until one gives a result. Source: Salt 3008.3
 * `salt/minion.py` _execute_job_function.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { invoke } from "./call.ts";
import type { JobContext } from "./job_context.ts";
import { isMap, repr, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The executor that calls the function itself. */
const DIRECT = "direct_call";

/** What calls the function of a job. */
export interface Executors {
  readonly names: readonly string[];
  /** The job. */
  readonly data: ValueMap;
}

/**
 * The executors of a job.
 * @param option The option `module_executors`, if the job names none.
 * @returns `undefined` if the function is called by nobody else.
 * @throws {InvocationError} If it is neither a text nor a list with names.
 */
export function executorsOf(data: ValueMap, option: Value): Executors | undefined {
  const given = data.get("module_executors") ?? null;
  const wanted = truthy(given) ? given : option;
  const names = typeof wanted === "string" && wanted !== "" ? [wanted] : wanted;
  if (!Array.isArray(names) || names.length === 0) {
    const text = isMap(wanted) || Array.isArray(wanted) ? repr(wanted) : str(wanted);
    throw new InvocationError(`Wrong executors specification: ${text}. String or non-empty list expected`);
  }
  return names.every((name) => name === DIRECT) ? undefined : { names: names.map(str), data };
}

/** The names of the executors' functions. */
export function executorFunctions({ names }: Executors): string[] {
  return names.filter((name) => name !== DIRECT).map(functionOf);
}

function functionOf(name: string): string {
  return `executors/${name}.execute`;
}

/** A call of a job's function. */
export interface ExecutedCall {
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
  readonly context: JobContext;
  /** What `direct_call` does. */
  readonly call: () => Promise<Value>;
}

/**
 * The result of the first executor that has one.
 * @throws {InvocationError} If there is no executor of a name.
 */
export async function callThrough(executors: Executors, executed: ExecutedCall): Promise<Value> {
  const { fun, args, kwargs, context, call } = executed;
  for (const name of executors.names) {
    if (name === DIRECT) return await call();
    const executor = await context.catalogue.get(functionOf(name));
    if (executor === undefined) throw new InvocationError(`Executor '${name}' is not available`);
    const given = [fun, executors.data, [...args], kwargs];
    const result = await invoke(executor, { name: functionOf(name), args: given, kwargs: new Map(), context });
    if (result !== null) return result;
  }
  return null;
}
