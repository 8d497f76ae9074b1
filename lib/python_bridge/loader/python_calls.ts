/**
 * How functions in Python are called: in the process of the job, or in a thread that may start one.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import type { PythonFamily } from "#lib/python_bridge/link/messages.ts";
import { isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { ANY_ARGUMENTS } from "./any_arguments.ts";
import type { PythonPlugins } from "./python_files.ts";
import type { MinionPython } from "./questions.ts";

/** How plugins in Python are reached. */
export interface PythonAccess {
  readonly plugins: PythonPlugins;
  /** The process of the current job; absent where none may be started. */
  readonly job?: MinionPython;
  /**
   * Calls a function in a thread that may start processes.
   * @returns Its outcome: a map with `return` and `retcode`, and `error` if it failed.
   */
  call(fun: string, args: readonly Value[], kwargs: ValueMap): Promise<Value>;
  /** Whether pillar is compiled: SLS files in Python do not see it. */
  readonly compilesPillar?: boolean;
  /** Called with the reasons why files do not load, of which a caller is told. */
  readonly warn?: (message: string) => void;
}

/** The function, called in the process of the job. */
export function calledInPython(
  what: { readonly family: PythonFamily; readonly fun: string },
  job: MinionPython,
  described: Partial<Pick<ModuleFunction<JobContext>, "doc" | "docstring">>,
): ModuleFunction<JobContext> {
  return {
    ...ANY_ARGUMENTS,
    ...described,
    async run(_bound, context, { args, kwargs }) {
      const request = { kind: "call", ...what, args, kwargs, test: context.opts.test } as const;
      const { value, retcode } = await job.request(request, context);
      if (retcode !== 0) context.setRetcode(retcode);
      return value;
    },
  };
}

/** The function of this name, called in another thread. */
export function elsewhere(name: string, access: PythonAccess): ModuleFunction<JobContext> {
  return {
    ...ANY_ARGUMENTS,
    async run(_bound, context, { args, kwargs }) {
      const { result, retcode } = await outcomeOf(name, args, kwargs, access);
      if (retcode !== 0) context.setRetcode(retcode);
      return result;
    },
  };
}

/**
 * Calls a function in another thread.
 * @returns What it returned, and its return code.
 * @throws {CommandError} With the text of what it threw.
 */
export async function outcomeOf(
  name: string,
  args: readonly Value[],
  kwargs: ValueMap,
  access: PythonAccess,
): Promise<{ readonly result: Value; readonly retcode: number }> {
  const outcome = await access.call(name, args, kwargs);
  if (!isMap(outcome)) throw new CommandError(`${name} has no outcome`);
  const thrown = outcome.get("error");
  if (isMap(thrown)) throw new CommandError(str(thrown.get("message") ?? ""));
  return { result: outcome.get("return") ?? null, retcode: toNumber(outcome.get("retcode")) ?? 1 };
}
