/**
 * The functions of the module `cmd` that run scripts and programs given as text: from their own copy, which is removed
 * afterwards. Source: the functions of Salt 3008.3 `salt/modules/cmdmod.py`.
 * @module
 */

import {
  BEFORE_SHELL,
  commandResultMap,
  describeCmd,
  executeCommand,
  knownKeywords,
  pickCmdParameters,
  SUCCESS,
} from "./arguments.ts";
import { CommandError } from "#lib/errors.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { copyScript } from "#lib/programs/script_source.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { findUser } from "#lib/os/users.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

const SCRIPT = {
  source: p.str(),
  args: p.any(null),
  ...BEFORE_SHELL,
  ...pickCmdParameters(
    "python_shell",
    "env",
    "template",
    "umask",
    "output_encoding",
    "output_loglevel",
    "log_callback",
  ),
  ...pickCmdParameters("hide_output", "timeout", "reset_system_locale", "saltenv", "use_vt", "bg", "password"),
  ...SUCCESS,
};

/** Renders scripts; `undefined` if there is no such engine. */
async function scriptRenderer(
  engine: string,
  { saltenv, kwargs }: { readonly saltenv: string; readonly kwargs: ValueMap },
  context: JobContext,
): Promise<((text: string) => Promise<string>) | undefined> {
  const { isEngine, renderText, variablesOf } = await import("#modules/execution/_templates.ts");
  if (!isEngine(engine)) return undefined;
  return (text) => renderText(text, { engine, saltenv, variables: variablesOf(kwargs, engine) }, context);
}

export const script: ModuleFunction<JobContext> = fn({
  doc: describeCmd(
    "Fetch a script, run it, and return a map of its `pid`, `retcode`, `stdout` and `stderr`. The copy that runs can be\n" +
      "read by its user alone and is removed afterwards. A script that is not there gives the return code 1,\n" +
      "`cache_error`, and the reason in `stderr`.",
    {
      params: SCRIPT,
      more: {
        source: "salt:// (of the environment `saltenv`), an absolute path on the minion, file://, http:// or https://.",
        template: "Engine (jinja) that renders the script first, with the keywords as variables. Default: none.",
        args: "Arguments, as a line or a list; with any, python_shell counts as False.",
      },
      examples: ["cmd.script /opt/scripts/runme.sh 'arg1 arg2 \"arg 3\"'"],
    },
  ),
  permissions: "all",
  resumable: true,
  params: SCRIPT,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const { source, args, ...others } = bound;
    const user = bound.runas === null ? undefined : findUser(bound.runas);
    if (bound.runas !== null && user === undefined) throw new CommandError(`User '${bound.runas}' is not available`);
    const saltenv = bound.saltenv || context.opts.saltenv || "base";
    const notFetched = (problem: string) => {
      context.setRetcode(1);
      context.log("error", `cmd.script: ${problem}`);
      return { pid: 0, retcode: 1, stdout: "", stderr: problem, cache_error: true };
    };
    const { template } = bound;
    const render = template ? await scriptRenderer(template, { saltenv, kwargs: rest.kwargs }, context) : undefined;
    if (template && render === undefined) return notFetched(`there is no engine ${template} for templates`);
    const copy = await copyScript(source, {
      directory: bound.cwd ?? undefined,
      owner: user,
      signal: context.signal,
      async fetch(url) {
        // Most functions of this module need nothing of it.
        const { fileClientOf } = await import("#lib/files/client/open.ts");
        return await fileClientOf(context).cacheFile(url, saltenv);
      },
      ...render !== undefined && { render },
    });
    if ("problem" in copy) return notFetched(copy.problem);
    const { path } = copy;
    try {
      const words: Value[] = typeof args === "string" ? shlexSplit(args) : listOrEmpty(args);
      const python_shell = words.length > 0 ? false : bound.python_shell;
      const request = { ...others, cmd: [path, ...words], python_shell, template: null };
      // Of a template, the others are variables.
      const keywords = template ? knownKeywords(rest) : rest;
      return commandResultMap(
        await executeCommand(request, { context, rest: keywords, name: "cmd.script" }),
        bound.hide_output,
      );
    } finally {
      // In the background it may not have been read yet; Salt removes it anyway.
      await Deno.remove(path).catch(() => {});
    }
  },
});

const SCRIPT_RETCODE = {
  source: p.str(),
  args: p.any(null),
  ...BEFORE_SHELL,
  ...pickCmdParameters("python_shell", "env"),
  template: p.str("jinja"),
  ...pickCmdParameters(
    "umask",
    "timeout",
    "reset_system_locale",
    "saltenv",
    "output_encoding",
    "output_loglevel",
    "log_callback",
  ),
  ...pickCmdParameters("use_vt", "password"),
  ...SUCCESS,
};

export const script_retcode: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Fetch a script, run it as cmd.script does, and return its return code.", {
    params: SCRIPT_RETCODE,
    more: {
      source: "As cmd.script takes it.",
      args: "Arguments, as a line or a list; with any, python_shell counts as False.",
      template: "Ignored: the script runs as it is.",
    },
    examples: ["cmd.script_retcode /opt/scripts/runme.sh 'arg1 arg2'"],
  }),
  permissions: "all",
  resumable: true,
  params: SCRIPT_RETCODE,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const all = await script.run({ hide_output: false, bg: false, ...bound, template: null }, context, rest);
    return typeof all === "object" && all !== null && "retcode" in all ? all.retcode : null;
  },
});

const EXEC_CODE = { lang: p.str(), code: p.str(), cwd: p.str(null), args: p.any(null) };

const CODE_MEANING = {
  lang: "The interpreter: bash, python3, perl, …",
  code: "The program's text.",
  args: "Arguments of the program: one text, or a list.",
};

export const exec_code_all: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Run a program given as text and return a map of its `pid`, `retcode`, `stdout` and `stderr`.", {
    params: EXEC_CODE,
    more: CODE_MEANING,
    examples: [`cmd.exec_code_all ruby 'puts "cheese"'`],
  }),
  permissions: "all",
  resumable: true,
  params: EXEC_CODE,
  varKwargs: "kwargs",
  async run({ lang, code, cwd, args }, context, rest) {
    const path = await Deno.makeTempFile({ prefix: "__salt.tmp." });
    try {
      await Deno.writeTextFile(path, code);
      const runas = rest.kwargs.get("runas") ?? null;
      const user = runas === null ? undefined : findUser(str(runas));
      if (user !== undefined && user.uid !== Deno.uid()) await Deno.chown(path, user.uid, null);
      const words: Value[] = Array.isArray(args) ? args : args === null ? [] : [args];
      const request = { cmd: [lang, path, ...words], cwd, python_shell: false };
      return commandResultMap(await executeCommand(request, { context, rest, name: "cmd.exec_code_all" }));
    } finally {
      await Deno.remove(path);
    }
  },
});

export const exec_code: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Run a program given as text and return what it wrote to stdout.", {
    params: EXEC_CODE,
    more: CODE_MEANING,
    examples: [`cmd.exec_code ruby 'puts "cheese"'`, `cmd.exec_code ruby 'puts "cheese"' args='["arg1", "arg2"]'`],
  }),
  permissions: "all",
  resumable: true,
  params: EXEC_CODE,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const all = await exec_code_all.run(bound, context, rest);
    return typeof all === "object" && all !== null && "stdout" in all ? all.stdout : "";
  },
});
