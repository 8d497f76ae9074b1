/**
 * State module `cmd`: commands and scripts, run each time, or when something that they watch has changed.
 *
 * What they take is in `modules/states/_command_arguments.ts`; the commands run by the execution module `cmd`.
 * Source: Salt 3008.3 `salt/states/cmd.py`.
 * @module
 */

import { document, forwardArguments, invalid, pick, shellOf } from "./_command_arguments.ts";
import { saltenvOf } from "./_saltenv.ts";
import { reinterpret } from "./_stateful.ts";
import { InvocationError, messageOf } from "#lib/errors.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type Bound, type ModuleFunction, p, type Rest } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

const WAIT = {
  name: p.any(),
  ...pick("cwd", "root", "runas", "shell"),
  env: p.any([]),
  ...pick("stateful", "output_loglevel", "hide_output", "use_vt"),
  ...pick("success_retcodes", "success_stdout", "success_stderr"),
};

const WAIT_SCRIPT = {
  name: p.any(),
  ...pick("source", "template", "cwd", "runas", "shell", "env", "stateful", "use_vt", "output_loglevel"),
  ...pick("hide_output", "success_retcodes", "success_stdout", "success_stderr"),
};

/** What commands take beside: the arguments of `cmd.run_all` and `cmd.script`, and those that `mod_watch` passes on. */
const OF_COMMANDS = [
  ...["stdin", "group", "python_shell", "clean_env", "rstrip", "umask", "output_encoding", "log_callback"],
  ...["reset_system_locale", "ignore_retcode", "saltenv", "redirect_stderr", "password", "encoded_cmd", "prepend_path"],
  ...["timeout", "ignore_timeout", "bg", "cwd", "root", "runas", "env", "template", "context", "defaults", "stateful"],
];

export const wait: ModuleFunction<StateContext> = stateFn({
  doc: document("Run a command only if something that the state watches has changed.", WAIT),
  params: WAIT,
  varKwargs: "kwargs",
  keywords: OF_COMMANDS,
  run: ({ name }) => startResult(name),
});

export const watch: ModuleFunction<StateContext> = stateFn({
  doc: document("Another name of `wait`.", WAIT),
  params: WAIT,
  varKwargs: "kwargs",
  keywords: OF_COMMANDS,
  run: ({ name }) => startResult(name),
});

export const wait_script: ModuleFunction<StateContext> = stateFn({
  doc: document("Run a script only if something that the state watches has changed.", WAIT_SCRIPT),
  params: WAIT_SCRIPT,
  varKwargs: "kwargs",
  keywords: [...OF_COMMANDS, "args"],
  run: ({ name }) => startResult(name),
});

const RUN = {
  name: p.any(),
  ...pick("cwd", "root", "runas", "password", "shell", "env", "prepend_path", "stateful", "output_loglevel"),
  ...pick("hide_output", "timeout", "ignore_timeout", "use_vt", "success_retcodes", "success_stdout", "success_stderr"),
};

const SCRIPT = {
  name: p.any(),
  ...pick("source", "template", "cwd", "runas", "password", "shell", "env", "stateful", "timeout", "use_vt"),
  ...pick("output_loglevel", "hide_output", "defaults", "context"),
  ...pick("success_retcodes", "success_stdout", "success_stderr"),
};

/** What `stateful` means: whether the command tells its outcome, and which command test mode runs. */
function outcomeRule(stateful: Value): { readonly tells: boolean; readonly testName: Value } {
  if (!Array.isArray(stateful)) return { tells: stateful === true, testName: null };
  const [first] = stateful;
  return { tells: stateful.length > 0, testName: isMap(first) ? first.get("test_name") ?? null : null };
}

/** The result of a command that was run: what the runtime does with `stateful`, and with a command of test mode. */
function finishResult(
  result: StateResult,
  { tells, retcode, test }: { tells: boolean; retcode: Value; test: boolean },
) {
  const reported = tells ? reinterpret(result) : result;
  return test && retcode === 0 && reported.changes.size > 0 ? { ...reported, result: null } : reported;
}

async function runCommand(given: Bound<typeof RUN>, context: StateContext, rest: Rest): Promise<StateResult> {
  const { name, stateful, shell, timeout, ignore_timeout, ...others } = given;
  const { tells, testName } = outcomeRule(stateful);
  const command = context.test && truthy(testName) ? testName : name;
  const refusal = invalid(given);
  if (refusal !== undefined) return failState(name, refusal);
  if (context.test && !truthy(testName)) {
    const would: StateResult = {
      name,
      result: null,
      comment: `Command "${str(name)}" would have been executed`,
      changes: new Map([["cmd", name]]),
    };
    return tells ? reinterpret(would) : would;
  }
  if (given.cwd && !isDirectory(given.cwd)) {
    return failState(name, `Desired working directory "${given.cwd}" is not available`);
  }
  const outcome = await execute(others.root ? "cmd.run_chroot" : "cmd.run_all", {
    own: map({ ...others, cmd: command, timeout, python_shell: true, shell: shellOf(shell, context) }),
    more: rest.kwargs,
    context,
    catches: () => true,
  });
  if ("problem" in outcome) return failState(name, outcome.problem);
  const { ran, warned } = outcome;
  const retcode = ran.get("retcode") ?? null;
  const late = retcode === 1 && str(ran.get("stdout") ?? "").includes("Timed out after");
  const forgiven = truthy(ignore_timeout) && late;
  return {
    ...finishResult({
      name,
      result: forgiven || !truthy(retcode),
      comment: `Command "${str(command)}" run`,
      changes: forgiven ? new Map([...ran, ["retcode", 0]]) : ran,
    }, { tells, retcode, test: context.test }),
    ...warned,
  };
}

/** What a function of `cmd` returned, with warnings of the state; or why it did not run. */
type Executed =
  | { readonly ran: ValueMap; readonly warned: Pick<StateResult, "warnings"> }
  | { readonly problem: string };

/**
 * Calls a function of `cmd`.
 * @param given.catches Which errors are a failure of the state.
 * @throws The others.
 */
async function execute(fun: string, { own, more, context, catches }: {
  readonly own: ValueMap;
  readonly more: ValueMap;
  readonly context: StateContext;
  catches(error: unknown): boolean;
}): Promise<Executed> {
  try {
    const { kwargs, warnings } = await forwardArguments(more, { fun, context });
    // The functions of `cmd` have defaults of their own for what was not given.
    const given = new Map([...kwargs, ...own].filter(([, value]) => value !== null));
    const ran = mapOrEmpty(await context.call(fun, [], given));
    return { ran, warned: warnings.length > 0 ? { warnings } : {} };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!catches(error)) throw error;
    return { problem: messageOf(error) };
  }
}

export const run: ModuleFunction<StateContext> = stateFn({
  doc: document(
    "Run a command. With `onchanges`, `creates`, `unless` or `onlyif` it is run only when that is wanted. More arguments,\n" +
      "as `bg`, `group` or `umask`, are those of cmd.run_all, or of cmd.run_chroot with `root`.",
    RUN,
  ),
  params: RUN,
  varKwargs: "kwargs",
  keywords: OF_COMMANDS,
  run: runCommand,
});

async function runScript(given: Bound<typeof SCRIPT>, context: StateContext, rest: Rest): Promise<StateResult> {
  const { stateful, shell, template, defaults, source: givenSource, ...others } = given;
  const { tells, testName } = outcomeRule(stateful);
  const name = context.test && truthy(testName) ? testName : given.name;
  const refusal = invalid(given);
  if (refusal !== undefined) return failState(name, refusal);
  if (context.test && !truthy(testName)) {
    const would = { ...startResult(name, null), comment: `Command '${str(name)}' would have been executed` };
    return tells ? reinterpret(would) : would;
  }
  if (given.cwd && !isDirectory(given.cwd)) {
    return failState(name, `Desired working directory "${given.cwd}" is not available`);
  }
  const saltenv = saltenvOf(context);
  const source = givenSource ?? name;
  const { name: _name, context: _context, ...rested } = others;
  const own = map({ ...rested, source, template, saltenv, python_shell: true, shell: shellOf(shell, context) });
  // Without an engine there is nobody to read them.
  if (truthy(template)) own.set("context", new Map([...mapOrEmpty(defaults), ...mapOrEmpty(given.context)]));
  if (!truthy(rest.kwargs.get("args")) && str(name).trim().split(/\s+/).length > 1) {
    own.set("args", str(name).slice(str(name).indexOf(" ") + 1));
  }
  const outcome = await execute("cmd.script", {
    own,
    more: rest.kwargs,
    context,
    catches: (error) => !(error instanceof InvocationError),
  });
  if ("problem" in outcome) return failState(name, outcome.problem);
  const { ran, warned } = outcome;
  const retcode = ran.get("retcode") ?? null;
  const comment = truthy(ran.get("cache_error"))
    ? `Unable to cache script ${str(source)} from saltenv '${saltenv}'`
    : `Command '${str(name)}' run`;
  return {
    ...finishResult({ name, result: !truthy(retcode), comment, changes: ran }, { tells, retcode, test: context.test }),
    ...warned,
  };
}

export const script: ModuleFunction<StateContext> = stateFn({
  doc: document(
    "Fetch a script and run it. Words behind the first of the name are its arguments, unless `args` has some; more\n" +
      "arguments, as `args`, `stdin` or `bg`, are those of cmd.script.",
    SCRIPT,
  ),
  params: SCRIPT,
  varKwargs: "kwargs",
  keywords: [...OF_COMMANDS, "args"],
  run: runScript,
});

const CALL = {
  name: p.any(),
  func: p.any(),
  args: p.any([]),
  kws: p.any(null),
  ...pick("output_loglevel", "hide_output", "use_vt"),
};

export const call: ModuleFunction<StateContext> = stateFn({
  doc: document("Call a function: for states written in a programming language. In SLS files there are none.", CALL),
  params: CALL,
  varKwargs: "kwargs",
  run: ({ func }) => {
    throw new TypeError(`'${typeName(func)}' object is not callable`);
  },
});

const WAIT_CALL = {
  name: p.any(),
  func: p.any(),
  args: p.any([]),
  kws: p.any(null),
  ...pick("stateful", "use_vt", "output_loglevel", "hide_output"),
};

export const wait_call: ModuleFunction<StateContext> = stateFn({
  doc: document("Call a function only if something that the state watches has changed.", WAIT_CALL),
  params: WAIT_CALL,
  varKwargs: "kwargs",
  run: ({ name }) => startResult(name),
});

/** What the functions do when something that they watch has changed. */
const WATCHING: Readonly<Record<string, string>> = {
  wait: "cmd.run",
  watch: "cmd.run",
  run: "cmd.run",
  wait_script: "cmd.script",
  script: "cmd.script",
  call: "cmd.call",
  wait_call: "cmd.call",
};

export const mod_watch: ModuleFunction<StateContext> = stateFn({
  doc: "Called when a watched state has changes: runs the command or script.\n\n" +
    "name\n    As in the state.\n\nsfun\n    The state's function.",
  params: { name: p.any(), sfun: p.str() },
  varKwargs: "kwargs",
  async run({ name, sfun }, context, { kwargs }) {
    const fun = WATCHING[sfun];
    if (fun === undefined) {
      const comment = `cmd.${sfun} does not work with the watch requisite, please use cmd.wait or cmd.wait_script`;
      return failState(name, comment);
    }
    if (fun === "cmd.call" && !truthy(kwargs.get("func"))) {
      return failState(name, `cmd.${sfun} needs a named parameter func`);
    }
    const stateful = fun !== "cmd.call" && truthy(kwargs.get("stateful"));
    const given: ValueMap = new Map([...kwargs, ["name", name]]);
    if (stateful) given.delete("stateful");
    const result = stateResult(await context.state(fun, given));
    return stateful ? reinterpret(result) : result;
  },
});
