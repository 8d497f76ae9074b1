/**
 * The functions of the module `saltutil` that do something on the master of this host: jobs, runners and wheel
 * functions. They start the master's own commands, so that their rights and their user are decided there. Source: the
 * functions of Salt 3008.3 `salt/modules/saltutil.py`.
 * @module
 */

import { startedBy } from "#lib/runtime/starting_user.ts";
import { CommandError } from "#lib/errors.ts";
import { dirName } from "#lib/os/paths.ts";
import { runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { operatorCommand } from "#lib/runtime/self_command.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

const NOT_LOCAL = "This command can only be executed on a minion that is located on the master.";

/**
 * The words that start `salt-run`.
 * @throws {CommandError} Where the master's commands are not on this host.
 */
function saltRun(): readonly string[] {
  const own = operatorCommand("salt-run");
  const [program] = own;
  if (isFile(program)) return own;
  const path = which("salt-run");
  if (path === undefined) throw new CommandError(NOT_LOCAL);
  return [path];
}

/** The outcome of a runner. */
interface RunnerResult {
  readonly ok: boolean;
  readonly return: Value;
}

/** Runs a runner with the master's configuration beside the minion's. */
async function runRunner(
  name: string,
  { args, kwargs }: { readonly args: readonly Value[]; readonly kwargs: ValueMap },
  context: JobContext,
): Promise<RunnerResult> {
  const config = dirName(context.opts.conf_file);
  if (!isFile(`${config}/master`)) throw new CommandError(`${NOT_LOCAL} There is no ${config}/master.`);
  // JSON is YAML, which salt-run reads arguments as: so each arrives as it is.
  const words = [
    ...args.map((value) => dumpJson(value)),
    ...[...kwargs].map(([key, value]) => `${str(key)}=${dumpJson(value)}`),
  ];
  const options = ["-c", config, "--out=json", "--out-indent=-1", "--log-level=quiet", "--no-color"];
  const env = startedBy(context.job.user);
  const { retcode, stdout, stderr } = await runProgram([...saltRun(), ...options, name, ...words], context, { env });
  const lines = stdout.split("\n").filter((line) => line !== "");
  try {
    return { ok: retcode === 0, return: parseJson(lines.at(-1) ?? "null") };
  } catch {
    throw new CommandError(stderr || stdout || `salt-run ended with return code ${retcode}`);
  }
}

/**
 * The result of a runner.
 * @throws {CommandError} If it failed, with what it says.
 */
async function resultOf(
  name: string,
  given: { readonly args: readonly Value[]; readonly kwargs: ValueMap },
  context: JobContext,
): Promise<Value> {
  const { ok, return: result } = await runRunner(name, given, context);
  if (!ok) throw new CommandError(str(result));
  return result;
}

function listOf(value: Value): Value[] {
  return Array.isArray(value) ? value : value === null ? [] : [value];
}

export const runner: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a runner of the master on this host, and return its result. arg: a list, kwarg: a map; other keywords are added to it.\n" +
      "With full_return=True, a map of `return`, `success`, `fun` and `jid`. saltenv and jid are accepted.",
    "saltutil.runner jobs.list_jobs",
    "saltutil.runner test.arg arg=\"['baz']\" kwarg=\"{'foo': 'bar'}\"",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    arg: p.any(null),
    kwarg: p.any(null),
    full_return: p.any(false),
    saltenv: p.str("base"),
    jid: p.any(null),
  },
  varKwargs: "kwargs",
  async run({ name, arg, kwarg, full_return }, context, { kwargs }) {
    const given = { args: listOf(arg), kwargs: new Map([...isMap(kwarg) ? kwarg : [], ...ownKeywords(kwargs)]) };
    if (!truthy(full_return)) return await resultOf(name, given, context);
    const { ok, return: result } = await runRunner(name, given, context);
    return fullReturn(`runner.${name}`, { args: given.args, ok, result });
  },
});

/** A result as Salt's clients show one whole. */
function fullReturn(
  fun: string,
  { args, ok, result }: { readonly args: readonly Value[]; readonly ok: boolean; readonly result: Value },
): ValueMap {
  const user = Deno.env.get("USER") ?? "root";
  return map({ fun, jid: makeJid(), user, fun_args: [...args], return: result, success: ok, retcode: ok ? 0 : 1 });
}

export const wheel: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a wheel function of the master on this host. Return a map of its `return`, `success`, `fun` and `jid`.",
    "saltutil.wheel key.accept jerry",
    "saltutil.wheel minions.connected",
  ),
  permissions: "all",
  params: { name: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  async run({ name }, context, { args, kwargs }) {
    const given = { args: [name, ...args], kwargs: ownKeywords(kwargs) };
    const { ok, return: result } = await runRunner("salt.wheel", given, context);
    return fullReturn(`wheel.${name}`, { args, ok, result });
  },
});

const JOB = {
  tgt: p.any(),
  fun: p.str(),
  arg: p.any([]),
  timeout: p.any(null),
  tgt_type: p.str("glob"),
  ret: p.str(""),
  kwarg: p.any(null),
  ssh: p.any(false),
};

/** Keyword arguments that steer Salt's clients and are none of the function's. */
const OF_CLIENTS: readonly string[] = ["_cmd_meta", "roster"];

/**
 * Runs a function on minions.
 * @returns By minion, its `ret` and `retcode`.
 */
async function onMinions(
  { tgt, fun, arg, timeout, tgt_type, ret, kwarg, ssh }: Readonly<Record<keyof typeof JOB, Value>>,
  kwargs: ValueMap,
  context: JobContext,
): Promise<ValueMap> {
  if (truthy(ssh)) throw new CommandError("ssh: not built here: run salt-ssh on the master's host");
  const options: ValueMap = map({ arg: listOf(arg), tgt_type, ret });
  if (timeout !== null) options.set("timeout", toNumber(timeout) ?? null);
  if (isMap(kwarg)) options.set("kwarg", kwarg);
  for (const [key, value] of ownKeywords(kwargs)) if (!OF_CLIENTS.includes(str(key))) options.set(key, value);
  return mapOrEmpty(await resultOf("salt.returns", { args: [tgt, fun], kwargs: options }, context));
}

export const cmd: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a function on minions of the master on this host. Return by minion what it returned (`ret`) and its retcode.\n" +
      "arg: a list, kwarg: a map.",
    "saltutil.cmd '*' test.ping",
  ),
  permissions: "all",
  params: JOB,
  varKwargs: "kwargs",
  run: (bound, context, { kwargs }) => onMinions(bound, kwargs, context),
});

export const cmd_iter: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run a function on minions of the master on this host. Return a list of maps, one for each minion that answered.",
    "saltutil.cmd_iter '*' test.ping",
  ),
  permissions: "all",
  params: JOB,
  varKwargs: "kwargs",
  run: async (bound, context, { kwargs }) =>
    [...await onMinions(bound, kwargs, context)].map(([id, answer]) => new Map([[id, answer]])),
});
