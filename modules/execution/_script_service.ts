/**
 * Shared by the modules `service` for scripts below `/etc/init.d`: each function is a call of the script.
 * @module
 */

import { runProgram } from "#lib/programs/run_program.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { serviceName, statusOf } from "#lib/host/services/service_names.ts";

/** The command line of an action of a service. */
export type ServiceWords = (name: string, action: string, context: JobContext) => readonly string[];

/** Its script itself. */
const ownScript: ServiceWords = (name, action) => [`/etc/init.d/${serviceName(name)}`, action];
/** The program `service`, which knows scripts and units. */
export function serviceProgram(name: string, action: string): readonly string[] {
  return ["service", serviceName(name), action];
}

/**
 * Runs an action of a service.
 * @returns Whether it succeeded.
 */
export async function runScript(
  name: string,
  action: string,
  context: JobContext,
  words: ServiceWords = ownScript,
): Promise<boolean> {
  return (await runProgram(words(name, action, context), context)).retcode === 0;
}

/** A function that runs an action of a service. */
export function scriptFunction(action: string, does: string, words?: ServiceWords): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${does} Return whether it succeeded.`, `service.${action.replace("-", "_")} <service name>`),
    permissions: "all",
    params: { name: p.str() },
    run: ({ name }, context) => runScript(name, action, context, words),
  });
}

/**
 * The function `status`.
 * @param all Lists the services there are.
 */
export function scriptStatus(
  all: (context: JobContext) => readonly string[] | Promise<readonly string[]>,
  words?: ServiceWords,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Return whether a service runs, as its script says; for a glob, a map. With sig, whether a process matches it.",
      "service.status <service name>",
      "service.status <service name> <service signature>",
    ),
    permissions: "all",
    params: { name: p.str(), sig: p.any(null) },
    async run({ name, sig }, context) {
      if (sig !== null && sig !== "") return await context.call("status.pid", [sig]) !== "";
      const isRunning = (one: string) => runScript(one, "status", context, words);
      return await statusOf(name, { all: () => all(context), isRunning });
    },
  });
}

/** A function that answers a question about one service. */
export function serviceQuestion(
  name: string,
  { question, answer, more = false }: {
    readonly question: string;
    readonly answer: (name: string, context: JobContext) => boolean | Promise<boolean>;
    readonly more?: boolean;
  },
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return whether ${question}.`, `service.${name} <service name>`),
    permissions: "all",
    params: { name: p.str() },
    ...more && { varKwargs: "kwargs" },
    run: ({ name: service }, context) => answer(service, context),
  });
}
