/**
 * What the modules `service` for scripts below `/etc/init.d` have in common: each function is a call of the script.
 * @module
 */

import { runProgram } from "../../lib/host/run_program.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import { serviceName, statusOf } from "../../lib/services/service_names.ts";

/** Runs a service's script. @returns Whether it went well. */
export async function runScript(name: string, action: string, context: JobContext): Promise<boolean> {
  return (await runProgram([`/etc/init.d/${serviceName(name)}`, action], context)).retcode === 0;
}

/** A function that calls the script. */
export function scriptFunction(action: string, does: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`${does} Return whether it went well.`, `service.${action.replace("-", "_")} <service name>`),
    permissions: "all",
    params: { name: str() },
    run: ({ name }, context) => runScript(name, action, context),
  });
}

/** The function `status`. @param all Lists the services there are. */
export function scriptStatus(
  all: (context: JobContext) => readonly string[] | Promise<readonly string[]>,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      "Return whether a service runs, as its script says; of a glob a map. With sig whether a process matches that.",
      "service.status <service name>",
      "service.status <service name> <service signature>",
    ),
    permissions: "all",
    params: { name: str(), sig: any(null) },
    async run({ name, sig }, context) {
      if (sig !== null && sig !== "") return await context.call("status.pid", [sig]) !== "";
      return await statusOf(name, { all: () => all(context), isRunning: (one) => runScript(one, "status", context) });
    },
  });
}

/** A function that asks of one service. */
export function serviceQuestion(
  name: string,
  { asks, answer, more = false }: {
    readonly asks: string;
    readonly answer: (name: string, context: JobContext) => boolean | Promise<boolean>;
    readonly more?: boolean;
  },
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return whether ${asks}.`, `service.${name} <service name>`),
    permissions: "all",
    params: { name: str() },
    ...more && { varKwargs: "kwargs" },
    run: ({ name: service }, context) => answer(service, context),
  });
}
