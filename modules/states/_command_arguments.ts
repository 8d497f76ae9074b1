/**
 * The arguments of states that run commands, with documentation, and how they are passed to `cmd.run_all` and
 * `cmd.script`. Source: Salt 3008.3 `salt/states/cmd.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, p, type Parameters } from "#lib/plugins/module.ts";
import { didYouMean } from "#lib/text/nearest_name.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Every argument of the states of `cmd` beside `name`. */
export const COMMAND_ARGUMENTS = {
  source: p.any(null),
  template: p.any(null),
  cwd: p.str(null),
  root: p.str(null),
  runas: p.str(null),
  password: p.any(null),
  shell: p.str(null),
  env: p.any(null),
  prepend_path: p.any(null),
  stateful: p.any(false),
  output_loglevel: p.any("debug"),
  hide_output: p.any(false),
  timeout: p.any(null),
  ignore_timeout: p.any(false),
  use_vt: p.any(false),
  defaults: p.any(null),
  context: p.any(null),
  success_retcodes: p.any(null),
  success_stdout: p.any(null),
  success_stderr: p.any(null),
};

/** The type of the table. */
type CommandArguments = typeof COMMAND_ARGUMENTS;

const MEANING: Readonly<Record<string, string>> = {
  name: "The command line, which the shell reads.",
  source: "The script: salt://, an absolute path, file://, http:// or https://. Default: the name.",
  template: "Engine (jinja) that renders the script first. Default: none.",
  cwd: "Directory to start in. Default: the home of the user.",
  root: "Directory to change the root to first.",
  runas: "User to run as. Default: the minion's.",
  password: "Ignored: it is for Windows.",
  shell: "Shell to run in. Default: the grain `shell`.",
  env: "More environment variables, as a map or a list of maps; their values are not expanded.",
  prepend_path: "Directories to put before PATH.",
  stateful: "Whether the command tells its own outcome by the last line of its output: JSON, or words like\n" +
    "    `changed=yes comment='text' key=value`. A list with the key `test_name` names the command of test mode.",
  output_loglevel: "Level at which the output is logged; quiet logs nothing of the command.",
  hide_output: "Leave the output out of the result.",
  timeout: "Seconds after which the command is killed.",
  ignore_timeout: "Whether a command that was killed after `timeout` counts as successful.",
  use_vt: "Ignored, with a warning: commands run without a terminal.",
  defaults: "Variables of the template.",
  context: "Variables of the template that win over `defaults`.",
  success_retcodes: "Return codes that count as 0.",
  success_stdout: "Texts that make the return code 0 if stdout holds one of them.",
  success_stderr: "Texts that make the return code 0 if stderr holds one of them.",
  func: "A function; there are none in SLS files of YAML.",
  args: "Its positional arguments.",
  kws: "Its keyword arguments.",
};

/** The named arguments, in that order. */
export function pick<K extends keyof CommandArguments & string>(...names: K[]): Pick<CommandArguments, K> {
  // The keys are those asked for, which TypeScript does not see in a made-up object.
  return Object.fromEntries(names.map((name) => [name, COMMAND_ARGUMENTS[name]])) as Pick<CommandArguments, K>;
}

/** Documentation of a state: what it does, and what its arguments mean. */
export function document(what: string, params: Parameters): string {
  return [what, ...Object.keys(params).map((name) => `${name}\n    ${MEANING[name]}`)].join("\n\n");
}

/** Why the arguments that a state was given cannot be used, in Salt's words. */
export function invalid({ env, context, defaults }: Partial<Bound<CommandArguments>>): string | undefined {
  const isGiven = (value: Value | undefined): value is Value => value !== undefined && value !== null;
  if (isGiven(env) && !Array.isArray(env) && !isMap(env)) {
    return "Invalidly-formatted 'env' parameter. See documentation.";
  }
  for (const [name, value] of Object.entries({ context, defaults })) {
    if (isGiven(value) && !isMap(value) && !isNothing(value)) {
      return `Invalidly-formatted '${name}' parameter. Must be formed as a dict.`;
    }
  }
  return undefined;
}

/** Whether a value counts as missing. */
function isNothing(value: Value): boolean {
  return value === "" || value === false || value === 0 || Array.isArray(value) && value.length === 0;
}

/** Arguments that every state has, or that the runtime adds for `mod_watch`, and that no command gets. */
const OF_THE_RUN: readonly string[] = ["name", "sfun", "__reqs__", "pillar", "pillarenv", "saltenv"];

/** Of the functions of `cmd` that take it, none declares it. */
const UNDECLARED: readonly string[] = ["stdin_raw_newlines"];

/** What the states say themselves. */
const OWN: readonly string[] = ["cmd", "python_shell"];

/**
 * Keyword arguments for a function of `cmd`, and warnings for those that it does not have: Salt drops them in silence.
 * @throws {InvocationError} For one that the state says itself.
 */
export async function forwardArguments(
  kwargs: ValueMap,
  { fun, context }: { readonly fun: string; readonly context: StateContext },
): Promise<{ readonly kwargs: ValueMap; readonly warnings: string[] }> {
  const params = await Promise.all(["cmd.run", fun].map(async (name) => (await context.catalogue.get(name))?.params));
  const names = [...UNDECLARED, ...params.flatMap((each) => Object.keys(each ?? {}))];
  const keywords: ValueMap = new Map();
  const warnings: string[] = [];
  for (const [key, value] of kwargs) {
    const name = str(key);
    if (OF_THE_RUN.includes(name) || name.startsWith("__")) continue;
    if (OWN.includes(name)) {
      const called = `salt.loaded.int.module.cmdmod.${fun.slice("cmd.".length)}()`;
      throw new InvocationError(`${called} got multiple values for keyword argument '${name}'`);
    }
    if (names.includes(name)) keywords.set(name, value);
    else warnings.push(`${fun} takes no argument '${name}', so it has no effect${didYouMean(name, names)}`);
  }
  return { kwargs: keywords, warnings };
}

/** The user's shell as the grains tell it; `null` lets the command take its own default. */
export function shellOf(shell: string | null, { grains }: StateContext): Value {
  return shell || (grains.get("shell") ?? null);
}
