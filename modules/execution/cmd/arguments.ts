/**
 * The arguments that the functions of the module `cmd` share: types, defaults and meaning in one table, and how they
 * make a {@linkcode CommandRequest}. Each function picks its own, in Salt's order. Source: Salt 3008.3,
 * `salt/modules/cmdmod.py`.
 * @module
 */

import { bind } from "#lib/plugins/call.ts";
import { type CommandRequest, type CommandResult, DEFAULT_SHELL, runCommand } from "#lib/programs/command.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { type Bound, p, type Parameters, type Rest } from "#lib/plugins/module.ts";
import { str, type Value } from "#lib/values/value.ts";

/** Every argument of `cmd.*` beside the command itself. */
export const CMD_ARGUMENTS = {
  cwd: p.str(null),
  stdin: p.any(null),
  runas: p.str(null),
  group: p.str(null),
  shell: p.str(DEFAULT_SHELL),
  python_shell: p.bool(null),
  env: p.any(null),
  clean_env: p.bool(false),
  template: p.str(null),
  rstrip: p.bool(true),
  umask: p.any(null),
  output_encoding: p.str(null),
  output_loglevel: p.str("debug"),
  log_callback: p.any(null),
  hide_output: p.bool(false),
  timeout: p.float(null),
  reset_system_locale: p.bool(true),
  ignore_retcode: p.bool(false),
  saltenv: p.str(null),
  use_vt: p.bool(false),
  redirect_stderr: p.bool(true),
  bg: p.bool(false),
  password: p.any(null),
  encoded_cmd: p.bool(false),
  raise_err: p.bool(false),
  prepend_path: p.str(null),
  success_retcodes: p.any(null),
  success_stdout: p.any(null),
  success_stderr: p.any(null),
  stdin_raw_newlines: p.bool(false),
};

/** The type of the table. */
export type CmdArguments = typeof CMD_ARGUMENTS;

const MEANING: Readonly<Record<keyof CmdArguments, string>> = {
  cwd: "Directory to start in: an absolute path. Default: the home of the user.",
  stdin: "What the command reads; `\\n` in it becomes a line end, unless stdin_raw_newlines=True. Default: nothing.",
  runas: "User to run as, with the environment and the groups that the user has after logging in.",
  group: "Primary group to run with.",
  shell: "Shell to run the command in. Default: that of the minion's environment, else /bin/sh.",
  python_shell: "True: the shell reads the command, with its pipes and variables. False: the command is split into " +
    "words and started directly. Default: True for a published job or salt-call, False when another function calls.",
  env: "More environment variables, as a map or a list of maps; None becomes an empty string.",
  clean_env: "Leave out the minion's own environment.",
  template: "Engine (jinja) that renders the command and cwd first. Default: none.",
  rstrip: "Drop white space at the end of the output.",
  umask: "File mode mask, octal.",
  output_encoding: "Encoding of the output, under Python's name. Default: UTF-8; what does not fit becomes U+FFFD.",
  output_loglevel: "Level at which the output is logged; quiet logs nothing of the command.",
  log_callback: "Ignored.",
  hide_output: "Return empty text in place of the output.",
  timeout: "Seconds after which the command and its children are killed.",
  reset_system_locale: "Set the locale to C, except where env or the user's login sets it.",
  ignore_retcode: "A return code other than 0 makes neither the job fail nor an error in the log.",
  saltenv: "Environment of salt:// sources. Default: the option saltenv, or base.",
  use_vt: "Ignored, with a warning: commands run without a terminal.",
  redirect_stderr: "Put stderr into stdout, in the order of writing.",
  bg: "Return at once and leave the command running; its output is lost.",
  password: "Ignored: it is for Windows.",
  encoded_cmd: "Ignored: it is for Windows.",
  raise_err: "Fail with the output as message if the return code is not 0.",
  prepend_path: "Directories to put before PATH.",
  success_retcodes: "Return codes that count as 0.",
  success_stdout: "Texts that make the return code 0 if stdout holds one of them.",
  stdin_raw_newlines: "Leave `\\n` in stdin as it is.",
  success_stderr: "Texts that make the return code 0 if stderr holds one of them.",
};

/** The named arguments, in that order. */
export function pickCmdParameters<K extends keyof CmdArguments & string>(...names: K[]): Pick<CmdArguments, K> {
  // The keys are those asked for, which TypeScript does not see in a made-up object.
  return Object.fromEntries(names.map((name) => [name, CMD_ARGUMENTS[name]])) as Pick<CmdArguments, K>;
}

/** Documentation of a function: what it does, what its arguments mean, how it is called. */
export function describeCmd(
  what: string,
  { params, more = {}, examples }: {
    params: Parameters;
    more?: Record<string, string>;
    examples: [string, ...string[]];
  },
): string {
  const meaning: Readonly<Record<string, string>> = { ...MEANING, ...more };
  const lines = Object.keys(params).map((name) => `${name}\n    ${meaning[name]}`);
  return describe([what, ...lines].join("\n\n"), ...examples);
}

/** The arguments of {@linkcode CmdArguments} that a function got. */
export type CmdGiven = Partial<Bound<CmdArguments>> & { readonly cmd: Value };

/**
 * Runs the command that a function of `cmd` was given, and sets the job's return code: 1 after a timeout, for which
 * Salt's is 0.
 * @param given.rest Keywords that the function does not declare and its siblings do count as well.
 * @throws {CommandError} Also if the configuration forbids the command to published jobs.
 */
export async function executeCommand(
  given: CmdGiven,
  { context, rest, name }: { context: JobContext; rest: Rest; name: string },
): Promise<CommandResult> {
  const published = (rest.kwargs.get("__pub_jid") ?? "") !== "";
  if (rest.kwargs.has("__pub_jid")) refuseForbidden(given.cmd, context);
  const merged: CmdGiven = { ...refuseUndeclared(rest, name), ...given };
  const request: CommandRequest = merged.template ? await renderGiven(merged, merged.template, context) : merged;
  const shellByDefault = published || context.opts.cmd_safe === false;
  const watch = merged.hide_output === true ? undefined : context.watchCommand;
  const runas = request.runas ?? context.runas ?? null;
  const result = await runCommand({ ...request, runas, python_shell: request.python_shell ?? shellByDefault }, {
    signal: context.signal,
    child: (pid, state) => context.child(pid, state),
    runChild: context.runChild,
    log: (level, message) => context.log(level, message),
    output: watch?.(request.output_encoding ?? null),
    outputMax: context.opts.output_max,
  });
  // Truncated output is a failure, even with `ignore_retcode`.
  if (result.cut) context.setRetcode(result.retcode || 1);
  else if (request.ignore_retcode === true || request.bg === true) context.setRetcode(0);
  else context.setRetcode(result.retcode ?? 0);
  return result;
}

/**
 * The command and its directory, rendered.
 * @throws {CommandError} If there is no such engine.
 * @throws {RenderError}
 */
async function renderGiven(given: CmdGiven, engine: string, context: JobContext): Promise<CmdGiven> {
  const { renderNames } = await import("#modules/execution/_templates.ts");
  const saltenv = given.saltenv || context.opts.saltenv || "base";
  const render = async (each: Value): Promise<Value> => {
    const [names] = await renderNames([str(each)], { engine, saltenv, variables: new Map() }, context);
    return names;
  };
  const cmd = Array.isArray(given.cmd) ? await Promise.all(given.cmd.map(render)) : await render(given.cmd);
  const cwd = given.cwd ? str(await render(given.cwd)) : given.cwd;
  return { ...given, cmd, cwd, template: null };
}

/** Keywords of Salt's functions for templates and states; they have no effect on a command. */
const WITHOUT_EFFECT: readonly string[] = ["pillar", "pillarenv"];

/**
 * @throws {InvocationError} For a keyword that no function of `cmd` knows: the command would run as if it was not
 * there.
 */
function refuseUnknown(rest: Rest, name: string): void {
  const names = [...Object.keys(CMD_ARGUMENTS), ...WITHOUT_EFFECT];
  for (const key of [...rest.kwargs.keys()].map(str)) {
    // Salt's own fields: __pub_jid, __env__.
    if (key.startsWith("__") || names.includes(key)) continue;
    throw new InvocationError(
      `${name} takes no argument '${key}'${didYouMean(key, names) || "."} The command was not run. ` +
        `A word with = that belongs to the command is quoted with it: 'cmd ${key}=…'`,
    );
  }
}

/** Without the keywords that no function of `cmd` knows: for a function that has another use for them. */
export function knownKeywords({ args, kwargs }: Rest): Rest {
  const isKnown = (key: string) =>
    key.startsWith("__") || Object.hasOwn(CMD_ARGUMENTS, key) || WITHOUT_EFFECT.includes(key);
  return { args, kwargs: new Map([...kwargs].filter(([key]) => isKnown(str(key)))) };
}

function refuseUndeclared(rest: Rest, name: string): Partial<Bound<CmdArguments>> {
  refuseUnknown(rest, name);
  const declared = new Map(
    [...rest.kwargs].filter(([key]) => typeof key === "string" && Object.hasOwn(CMD_ARGUMENTS, key)),
  );
  const params = Object.fromEntries(Object.entries(CMD_ARGUMENTS).filter(([key]) => declared.has(key)));
  // `bind` made this of the table's own parameters.
  return bind({ doc: "", params }, [], declared, name).bound as Partial<Bound<CmdArguments>>;
}

/** The options `cmd_whitelist_glob` and `cmd_blacklist_glob`. */
function refuseForbidden(cmd: Value, context: JobContext): void {
  const line = Array.isArray(cmd) ? cmd.map((word) => str(word)).join(" ") : str(cmd);
  const { cmd_whitelist_glob: allowed, cmd_blacklist_glob: forbidden } = context.opts;
  const matches = (glob: string) => matchesGlob(glob, line);
  if (forbidden.some(matches) || (allowed.length > 0 && !allowed.some(matches))) {
    throw new CommandError(`The shell command "${line}" is not permitted`);
  }
}

/**
 * The return of `cmd.run_all` and similar functions: Salt's map of four.
 * @param hide Whether what the command wrote is left out.
 */
export function commandResultMap(
  { pid, retcode, stdout, stderr }: CommandResult,
  hide = false,
): Record<string, unknown> {
  return { pid, retcode, stdout: hide ? "" : stdout, stderr: hide ? "" : stderr };
}

/** Arguments that most functions take in this order. */
export const BEFORE_SHELL = pickCmdParameters("cwd", "stdin", "runas", "group", "shell");

/** Arguments that define a success. */
export const SUCCESS = pickCmdParameters("success_retcodes", "success_stdout", "success_stderr");
