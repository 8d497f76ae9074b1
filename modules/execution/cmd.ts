/**
 * Execution module `cmd`: running commands and scripts on the minion's host, through a shell or without one.
 *
 * What a command may be told is in `modules/execution/_cmd_arguments.ts`, how it is run in `lib/host/command.ts`. Whoever may call these
 * functions has the rights of the minion's user.
 * Source: the functions of Salt 3008.3 `salt/modules/cmdmod.py`; Windows' are left out.
 * @module
 */

import { document, executeCommand, knownKeywords, pick } from "./_cmd_arguments.ts";
import type { CommandResult } from "../../lib/host/command.ts";
import { CommandError } from "../../lib/errors.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, bool, type ModuleFunction, type Parameters, str } from "../../lib/plugins/module.ts";
import type { Permissions } from "../../lib/plugins/permissions.ts";
import { copyScript } from "../../lib/host/script_source.ts";
import { shlexSplit } from "../../lib/text/shlex.ts";
import { splitLines } from "../../lib/text/split_lines.ts";
import { findUser } from "../../lib/os/users.ts";
import { str as text, truthy, type Value, type ValueMap } from "../../lib/values/value.ts";
import { which as find } from "../../lib/host/which.ts";

/** What `cmd.run_all` and the like return: Salt's map of four. */
function asMap({ pid, retcode, stdout, stderr }: CommandResult, hide = false): Record<string, unknown> {
  return { pid, retcode, stdout: hide ? "" : stdout, stderr: hide ? "" : stderr };
}

const THE_COMMAND = { cmd: "The command: a line, or a list of words." };

const BEFORE_SHELL = pick("cwd", "stdin", "runas", "group", "shell");
const LOGGING = pick("rstrip", "umask", "output_encoding", "output_loglevel", "log_callback", "hide_output");
const RUNNING = pick("timeout", "reset_system_locale", "ignore_retcode", "saltenv", "use_vt");
const SUCCESS = pick("success_retcodes", "success_stdout", "success_stderr");

const RUN = {
  cmd: any(),
  ...BEFORE_SHELL,
  ...pick("python_shell", "env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  ...pick("redirect_stderr", "bg", "password", "encoded_cmd", "raise_err", "prepend_path"),
  ...SUCCESS,
};

/** What looking for a program takes. */
const SEARCH: Permissions = { env: ["PATH"], read: true, sys: ["uid", "gid"] };

export const run: ModuleFunction<JobContext> = fn({
  doc: document("Run a command and return its output. The job fails if the command's return code is not 0.", {
    params: RUN,
    more: THE_COMMAND,
    examples: [`cmd.run "ls -l | awk '/foo/{print \\\\$2}'"`, "cmd.run 'echo $HOME' runas=www-data cwd=/tmp"],
  }),
  permissions: "all",
  resumable: true,
  params: RUN,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const result = await executeCommand(bound, { context, rest, name: "cmd.run" });
    const output = bound.hide_output ? "" : result.stdout;
    const failed = result.retcode !== null && result.retcode !== 0;
    if (failed && bound.raise_err && !bound.ignore_retcode) throw new CommandError(output);
    return output;
  },
});

const SHELL = {
  cmd: any(),
  ...BEFORE_SHELL,
  ...pick("env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  ...pick("bg", "password", "prepend_path"),
  ...SUCCESS,
};

export const shell: ModuleFunction<JobContext> = fn({
  doc: document("Run a command line through the shell and return its output, wherever it is called from.", {
    params: SHELL,
    more: THE_COMMAND,
    examples: [`cmd.shell "ls -l | awk '/foo/{print \\\\$2}'"`],
  }),
  permissions: "all",
  resumable: true,
  params: SHELL,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const given = rest.kwargs.get("python_shell") ?? null;
    const request = { redirect_stderr: true, ...bound, python_shell: given === null || truthy(given) };
    const result = await executeCommand(request, { context, rest, name: "cmd.shell" });
    return bound.hide_output ? "" : result.stdout;
  },
});

const RUN_STDOUT = {
  cmd: any(),
  ...BEFORE_SHELL,
  ...pick("python_shell", "env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  ...pick("password", "prepend_path"),
  ...SUCCESS,
};

export const run_stdout: ModuleFunction<JobContext> = fn({
  doc: document("Run a command and return what it wrote to stdout.", {
    params: RUN_STDOUT,
    more: THE_COMMAND,
    examples: [`cmd.run_stdout "ls -l | awk '/foo/{print \\\\$2}'"`],
  }),
  permissions: "all",
  resumable: true,
  params: RUN_STDOUT,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const result = await executeCommand(bound, { context, rest, name: "cmd.run_stdout" });
    return bound.hide_output ? "" : result.stdout;
  },
});

export const run_stderr: ModuleFunction<JobContext> = fn({
  doc: document("Run a command and return what it wrote to stderr.", {
    params: RUN_STDOUT,
    more: THE_COMMAND,
    examples: [`cmd.run_stderr "ls -l | awk '/foo/{print \\\\$2}'"`],
  }),
  permissions: "all",
  resumable: true,
  params: RUN_STDOUT,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const result = await executeCommand(bound, { context, rest, name: "cmd.run_stderr" });
    return bound.hide_output ? "" : result.stderr;
  },
});

const RUN_ALL = {
  cmd: any(),
  ...BEFORE_SHELL,
  ...pick("python_shell", "env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  redirect_stderr: bool(false),
  ...pick("password", "encoded_cmd", "prepend_path"),
  ...SUCCESS,
};

export const run_all: ModuleFunction<JobContext> = fn({
  doc: document("Run a command and return a map of its `pid`, `retcode`, `stdout` and `stderr`.", {
    params: RUN_ALL,
    more: THE_COMMAND,
    examples: [`cmd.run_all "ls -l | awk '/foo/{print \\\\$2}'"`],
  }),
  permissions: "all",
  resumable: true,
  params: RUN_ALL,
  varKwargs: "kwargs",
  run: async (bound, context, rest) =>
    asMap(await executeCommand(bound, { context, rest, name: "cmd.run_all" }), bound.hide_output),
});

const RETCODE = {
  cmd: any(),
  ...BEFORE_SHELL,
  ...pick("python_shell", "env", "clean_env", "template", "umask", "output_encoding", "output_loglevel"),
  ...pick("log_callback"),
  ...RUNNING,
  ...pick("password"),
  ...SUCCESS,
};

export const retcode: ModuleFunction<JobContext> = fn({
  doc: document("Run a command and return its return code.", {
    params: RETCODE,
    more: THE_COMMAND,
    examples: ['cmd.retcode "file /bin/bash"'],
  }),
  permissions: "all",
  resumable: true,
  params: RETCODE,
  varKwargs: "kwargs",
  run: async (bound, context, rest) =>
    (await executeCommand({ redirect_stderr: true, ...bound }, { context, rest, name: "cmd.retcode" })).retcode,
});

const RUN_BG = {
  cmd: any(),
  ...pick("cwd", "runas", "group", "shell", "python_shell", "env", "clean_env", "template", "umask", "timeout"),
  ...pick("output_encoding", "output_loglevel", "log_callback", "reset_system_locale", "ignore_retcode", "saltenv"),
  ...pick("password", "prepend_path"),
  ...SUCCESS,
};

export const run_bg: ModuleFunction<JobContext> = fn({
  doc: document("Start a command, leave it running, and return a map with its `pid`. It outlives the job.", {
    params: RUN_BG,
    more: { ...THE_COMMAND, timeout: "Ignored: nobody waits." },
    examples: ['cmd.run_bg "fstrim-all"'],
  }),
  permissions: "all",
  params: RUN_BG,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const { pid } = await executeCommand({ ...bound, bg: true }, { context, rest, name: "cmd.run_bg" });
    return { pid };
  },
});

const SCRIPT = {
  source: str(),
  args: any(null),
  ...BEFORE_SHELL,
  ...pick("python_shell", "env", "template", "umask", "output_encoding", "output_loglevel", "log_callback"),
  ...pick("hide_output", "timeout", "reset_system_locale", "saltenv", "use_vt", "bg", "password"),
  ...SUCCESS,
};

/** Renders scripts. @throws {CommandError} If there is no such engine. */
async function scriptRenderer(
  engine: string,
  { saltenv, kwargs }: { readonly saltenv: string; readonly kwargs: ValueMap },
  context: JobContext,
): Promise<(text: string) => Promise<string>> {
  const { isEngine, renderText, variablesOf } = await import("./_templates.ts");
  if (!isEngine(engine)) throw new CommandError(`Attempted to render template with unavailable engine ${engine}`);
  return (text) => renderText(text, { engine, saltenv, variables: variablesOf(kwargs) }, context);
}

export const script: ModuleFunction<JobContext> = fn({
  doc: document(
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
    const copy = await copyScript(source, {
      directory: bound.cwd ?? undefined,
      owner: user,
      signal: context.signal,
      async fetch(url) {
        // Most functions of this module need nothing of it.
        const { fileClientOf } = await import("../../lib/fileclient/open.ts");
        return await fileClientOf(context).cacheFile(url, saltenv);
      },
      ...bound.template && { render: await scriptRenderer(bound.template, { saltenv, kwargs: rest.kwargs }, context) },
    });
    if ("problem" in copy) {
      context.setRetcode(1);
      return { pid: 0, retcode: 1, stdout: "", stderr: copy.problem, cache_error: true };
    }
    const { path } = copy;
    try {
      const words: Value[] = typeof args === "string" ? shlexSplit(args) : Array.isArray(args) ? args : [];
      const python_shell = words.length > 0 ? false : bound.python_shell;
      const request = { ...others, cmd: [path, ...words], python_shell, template: null };
      // Of a template, the others are variables.
      const keywords = bound.template ? knownKeywords(rest) : rest;
      return asMap(
        await executeCommand(request, { context, rest: keywords, name: "cmd.script" }),
        bound.hide_output,
      );
    } finally {
      // In the background it may not have been read yet; Salt removes it all the same.
      await Deno.remove(path).catch(() => {});
    }
  },
});

const SCRIPT_RETCODE = {
  source: str(),
  args: any(null),
  ...BEFORE_SHELL,
  ...pick("python_shell", "env"),
  template: str("jinja"),
  ...pick("umask", "timeout", "reset_system_locale", "saltenv", "output_encoding", "output_loglevel", "log_callback"),
  ...pick("use_vt", "password"),
  ...SUCCESS,
};

export const script_retcode: ModuleFunction<JobContext> = fn({
  doc: document("Fetch a script, run it as cmd.script does, and return its return code.", {
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

const RUN_CHROOT = {
  root: str(),
  cmd: any(),
  ...BEFORE_SHELL,
  python_shell: bool(true),
  binds: any(null),
  ...pick("env", "clean_env", "template", "rstrip", "umask", "output_encoding"),
  output_loglevel: str("quiet"),
  ...pick("log_callback", "hide_output", "timeout", "reset_system_locale", "ignore_retcode", "saltenv", "use_vt", "bg"),
  ...SUCCESS,
};

export const run_chroot: ModuleFunction<JobContext> = fn({
  doc: document(
    "Run a command in another root directory, in which /dev, /proc, /sys and `binds` are mounted meanwhile, and return a map of\n" +
      "its `pid`, `retcode`, `stdout` and `stderr`. What is left running there is ended.",
    {
      params: RUN_CHROOT,
      more: {
        ...THE_COMMAND,
        root: "The directory.",
        binds: "Directories of the host that are bound to the same places in it.",
        runas: "A user that is known there.",
        group: "A group that is known there.",
      },
      examples: [`cmd.run_chroot /var/lib/lxc/container_name/rootfs 'sh /tmp/bootstrap.sh'`],
    },
  ),
  permissions: "all",
  params: RUN_CHROOT,
  varKwargs: "kwargs",
  async run({ root, cmd, binds, runas, group, ...others }, context, rest) {
    const { runInChroot } = await import("./_chroot.ts");
    return await runInChroot({ root, cmd, binds, runas, group }, context, async (line) =>
      asMap(
        await executeCommand({ ...others, cmd: line, python_shell: false, runas: null, group: null }, {
          context,
          rest,
          name: "cmd.run_chroot",
        }),
        others.hide_output,
      ));
  },
});

export const shell_info: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a shell or an interpreter is installed, its path and its version: bash, zsh, tcsh, perl, python, ruby, php.",
    "cmd.shell_info bash",
  ),
  permissions: "all",
  params: { shell: str(), list_modules: bool(false) },
  async run({ shell }, context) {
    const { shellInfo } = await import("../../lib/host/shell_info.ts");
    return await shellInfo(shell, context);
  },
});

const POWERSHELL = {
  cmd: any(),
  ...pick("cwd", "stdin", "runas"),
  shell: str("powershell"),
  ...pick("env", "clean_env", "template", "rstrip", "umask", "output_encoding", "output_loglevel"),
};
const AFTER_OUTPUT = {
  ...pick("timeout", "reset_system_locale", "ignore_retcode", "saltenv", "use_vt", "password"),
  depth: any(null),
  encode_cmd: bool(false),
};

/** PowerShell on Linux is no part of any distribution, and Salt asks Windows' registry for its version. */
function powershellFunction(name: string, params: Parameters): ModuleFunction<JobContext> {
  return fn({
    doc: describe("Refused: for PowerShell of Windows.", `cmd.${name} Get-Process`),
    params,
    varKwargs: "kwargs",
    run() {
      throw new CommandError(`cmd.${name} is for Windows. Where there is a pwsh: cmd.run 'pwsh -Command …'`);
    },
  });
}

export const powershell: ModuleFunction<JobContext> = powershellFunction("powershell", {
  ...POWERSHELL,
  ...pick("hide_output"),
  ...AFTER_OUTPUT,
  ...SUCCESS,
});
export const powershell_all: ModuleFunction<JobContext> = powershellFunction("powershell_all", {
  ...POWERSHELL,
  quiet: bool(false),
  ...AFTER_OUTPUT,
  force_list: bool(false),
  ...SUCCESS,
});

const EXEC_CODE = { lang: str(), code: str(), cwd: str(null), args: any(null) };
const CODE_MEANING = {
  lang: "The interpreter: bash, python3, perl, …",
  code: "The program's text.",
  args: "Arguments of the program: one text, or a list.",
};

export const exec_code_all: ModuleFunction<JobContext> = fn({
  doc: document("Run a program given as text and return a map of its `pid`, `retcode`, `stdout` and `stderr`.", {
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
      const user = runas === null ? undefined : findUser(text(runas));
      if (user !== undefined && user.uid !== Deno.uid()) await Deno.chown(path, user.uid, null);
      const words: Value[] = Array.isArray(args) ? args : args === null ? [] : [args];
      const request = { cmd: [lang, path, ...words], cwd, python_shell: false };
      return asMap(await executeCommand(request, { context, rest, name: "cmd.exec_code_all" }));
    } finally {
      await Deno.remove(path);
    }
  },
});

export const exec_code: ModuleFunction<JobContext> = fn({
  doc: document("Run a program given as text and return what it wrote to stdout.", {
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

export const which: ModuleFunction<JobContext> = fn({
  doc: describe("Return the path of an executable, or None if PATH holds no such one.", "cmd.which cat"),
  permissions: SEARCH,
  params: { cmd: str() },
  run: ({ cmd }) => find(cmd) ?? null,
});

export const which_bin: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the path of the first executable out of a list that is there, or None.",
    "cmd.which_bin '[pip2, pip, pip-python]'",
  ),
  permissions: SEARCH,
  params: { cmds: any() },
  run: ({ cmds }) => (Array.isArray(cmds) ? cmds : [cmds]).flatMap((cmd) => find(text(cmd)) ?? []).at(0) ?? null,
});

export const has_exec: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether an executable is found in PATH.", "cmd.has_exec cat"),
  permissions: SEARCH,
  params: { cmd: str() },
  run: ({ cmd }) => find(cmd) !== undefined,
});

export const shells: ModuleFunction<JobContext> = fn({
  doc: describe("Return the shells that /etc/shells lists.", "cmd.shells"),
  permissions: { read: ["/etc/shells"] },
  params: {},
  async run(_bound, context) {
    try {
      const lines = splitLines(await Deno.readTextFile("/etc/shells")).map((line) => line.trim());
      return lines.filter((line) => line !== "" && !line.startsWith("#"));
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) context.log("error", `Cannot read /etc/shells: ${error}`);
      return [];
    }
  },
});

export const tty: ModuleFunction<JobContext> = fn({
  doc: describe("Write text to a terminal of the host.", "cmd.tty tty0 'This is a test'", "cmd.tty pts3 'And this'"),
  permissions: "all",
  params: { device: str(), echo: str("") },
  async run({ device, echo }) {
    if (!/^(tty|pts)\/?\w*$/.test(device)) return { Error: "The specified device is not a valid TTY" };
    const path = `/dev/${device.replace(/^pts\/?/, "pts/")}`;
    try {
      using terminal = await Deno.open(path, { write: true });
      await terminal.write(new TextEncoder().encode(echo));
      return { Success: `Message was successfully echoed to ${path}` };
    } catch {
      return { Error: `Echoing to ${path} returned error` };
    }
  },
});
