/**
 * Execution module `docker`: programs and scripts are run in a container that runs.
 * Source: the functions of Salt 3006.28 `salt/modules/dockermod.py`, `salt/modules/container_resource.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Parameters } from "#lib/plugins/module.ts";
import { map, type Value } from "#lib/values/value.ts";
import { changing } from "./connection.ts";
import { type CommandOptions, type ContainerResult, runInContainer } from "./running.ts";
import { runContainerScript } from "./scripts.ts";

const COMMAND = {
  exec_driver: p.str(null),
  stdin: p.str(null),
  python_shell: p.bool(true),
  output_loglevel: p.str("debug"),
  use_vt: p.bool(false),
  ignore_retcode: p.bool(false),
  keep_env: p.any(null),
} satisfies Parameters;

/** What all of them say about their arguments. */
const ABOUT =
  "\n\ncmd starts one program, without a shell: `sh -c '...'` has one. Its environment is only PATH, unless keep_env=True, " +
  "or keep_env names variables of the minion that it gets. exec_driver: docker-exec, or nsenter from the host.";

/** A function that runs a command, and returns a part of what came of it. */
function running(
  name: string,
  what: string,
  pick: (result: ContainerResult) => Value,
  joins = false,
): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Run a command in a container. Return ${what}.${ABOUT}`, `docker.${name} mycontainer 'ls -l /etc'`),
    permissions: "all",
    params: { name: p.str(), cmd: p.any(), ...COMMAND },
    run: ({ name, cmd, ...options }, context) =>
      changing(context, async () => pick(await runInContainer(context, name, cmd, { ...checked(options), joins }))),
  });
}

type Given = Omit<CommandOptions, "joins"> & { readonly use_vt: boolean };

function checked({ use_vt, ...options }: Given): CommandOptions {
  if (use_vt) {
    throw new InvocationError("use_vt is not supported: the output of a command is returned when it has ended");
  }
  return options;
}

/** The whole result, as cmd.run_all has it. */
function wholeResult({ pid, retcode, stdout, stderr }: ContainerResult): Value {
  return map({ pid, retcode, stdout, stderr });
}

export const run: ModuleFunction<JobContext> = running(
  "run",
  "what it wrote to stdout and stderr",
  ({ stdout }) => stdout,
  true,
);
export const run_all: ModuleFunction<JobContext> = running(
  "run_all",
  "a map of its pid, retcode, stdout and stderr",
  wholeResult,
);
export const run_stdout: ModuleFunction<JobContext> = running(
  "run_stdout",
  "what it wrote to stdout",
  ({ stdout }) => stdout,
);
export const run_stderr: ModuleFunction<JobContext> = running(
  "run_stderr",
  "what it wrote to stderr",
  ({ stderr }) => stderr,
);
export const retcode: ModuleFunction<JobContext> = running("retcode", "its return code", ({ retcode }) => retcode);

const SCRIPT = {
  name: p.str(),
  source: p.str(),
  saltenv: p.str("base"),
  args: p.any(null),
  template: p.str(null),
  exec_driver: p.str(null),
  stdin: p.str(null),
  python_shell: p.bool(true),
  output_loglevel: p.str("debug"),
  ignore_retcode: p.bool(false),
  use_vt: p.bool(false),
  keep_env: p.any(null),
} satisfies Parameters;

/** A function that runs a script, and returns a part of what came of it. */
function scripting(name: string, what: string, pick: (result: ContainerResult) => Value): ModuleFunction<JobContext> {
  return fn({
    doc: describe(
      `Run a script in a container: source is a file of the master (salt://) or of the minion, rendered if template is given; args are\nits arguments. Return ${what}.${ABOUT}`,
      `docker.${name} mycontainer salt://docker_script.py`,
    ),
    permissions: "all",
    params: SCRIPT,
    run: ({ name, source, saltenv, args, template, ...options }, context) =>
      changing(
        context,
        async () =>
          pick(await runContainerScript(context, { name, source, saltenv, args, template }, checked(options))),
      ),
  });
}

export const script: ModuleFunction<JobContext> = scripting(
  "script",
  "a map of its pid, retcode, stdout and stderr",
  (result) => new Map([...map({ ...result })].filter(([, value]) => value !== null)),
);
export const script_retcode: ModuleFunction<JobContext> = scripting(
  "script_retcode",
  "its return code",
  ({ retcode }) => retcode,
);
