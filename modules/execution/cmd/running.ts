/**
 * Execution module `cmd`: running commands on the minion's host, through a shell or without one. Its functions
 * for scripts are in `scripts.ts`.
 *
 * The arguments of a command are in `modules/execution/cmd/arguments.ts`, how it is run in `lib/programs/command.ts`.
 * Whoever may call these functions has the rights of the minion's user. Source: the functions of Salt 3008.3
 * `salt/modules/cmdmod.py`; Windows' are left out.
 * @module
 */

import {
  BEFORE_SHELL,
  commandResultMap,
  describeCmd,
  executeCommand,
  pickCmdParameters,
  SUCCESS,
} from "./arguments.ts";
import { CommandError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p, type Parameters } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { str, truthy } from "#lib/values/value.ts";
import { which as find } from "#lib/programs/which.ts";
import { asList } from "#lib/values/shape.ts";

const THE_COMMAND = { cmd: "The command: a line, or a list of words." };

const LOGGING = pickCmdParameters(
  "rstrip",
  "umask",
  "output_encoding",
  "output_loglevel",
  "log_callback",
  "hide_output",
);

const RUNNING = pickCmdParameters("timeout", "reset_system_locale", "ignore_retcode", "saltenv", "use_vt");

const RUN = {
  cmd: p.any(),
  ...BEFORE_SHELL,
  ...pickCmdParameters("python_shell", "env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  ...pickCmdParameters("redirect_stderr", "bg", "password", "encoded_cmd", "raise_err", "prepend_path"),
  ...SUCCESS,
};

/** What looking for a program takes. */
const SEARCH: Permissions = { env: ["PATH"], read: true, sys: ["uid", "gid"] };

export const run: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Run a command and return its output. The job fails if the command's return code is not 0.", {
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
  cmd: p.any(),
  ...BEFORE_SHELL,
  ...pickCmdParameters("env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  ...pickCmdParameters("bg", "password", "prepend_path"),
  ...SUCCESS,
};

export const shell: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Run a command line in a shell and return its output, also when called from a template.", {
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
  cmd: p.any(),
  ...BEFORE_SHELL,
  ...pickCmdParameters("python_shell", "env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  ...pickCmdParameters("password", "prepend_path"),
  ...SUCCESS,
};

export const run_stdout: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Run a command and return what it wrote to stdout.", {
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
  doc: describeCmd("Run a command and return what it wrote to stderr.", {
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
  cmd: p.any(),
  ...BEFORE_SHELL,
  ...pickCmdParameters("python_shell", "env", "clean_env", "template"),
  ...LOGGING,
  ...RUNNING,
  redirect_stderr: p.bool(false),
  ...pickCmdParameters("password", "encoded_cmd", "prepend_path"),
  ...SUCCESS,
};

export const run_all: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Run a command and return a map of its `pid`, `retcode`, `stdout` and `stderr`.", {
    params: RUN_ALL,
    more: THE_COMMAND,
    examples: [`cmd.run_all "ls -l | awk '/foo/{print \\\\$2}'"`],
  }),
  permissions: "all",
  resumable: true,
  params: RUN_ALL,
  varKwargs: "kwargs",
  run: async (bound, context, rest) =>
    commandResultMap(await executeCommand(bound, { context, rest, name: "cmd.run_all" }), bound.hide_output),
});

const RETCODE = {
  cmd: p.any(),
  ...BEFORE_SHELL,
  ...pickCmdParameters("python_shell", "env", "clean_env", "template", "umask", "output_encoding", "output_loglevel"),
  ...pickCmdParameters("log_callback"),
  ...RUNNING,
  ...pickCmdParameters("password"),
  ...SUCCESS,
};

export const retcode: ModuleFunction<JobContext> = fn({
  doc: describeCmd("Run a command and return its return code.", {
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
  cmd: p.any(),
  ...pickCmdParameters(
    "cwd",
    "runas",
    "group",
    "shell",
    "python_shell",
    "env",
    "clean_env",
    "template",
    "umask",
    "timeout",
  ),
  ...pickCmdParameters(
    "output_encoding",
    "output_loglevel",
    "log_callback",
    "reset_system_locale",
    "ignore_retcode",
    "saltenv",
  ),
  ...pickCmdParameters("password", "prepend_path"),
  ...SUCCESS,
};

export const run_bg: ModuleFunction<JobContext> = fn({
  doc: describeCmd(
    "Start a command, leave it running, and return a map with its `pid`. The command continues after the job.",
    {
      params: RUN_BG,
      more: { ...THE_COMMAND, timeout: "Ignored: nobody waits." },
      examples: ['cmd.run_bg "fstrim-all"'],
    },
  ),
  permissions: "all",
  params: RUN_BG,
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const { pid } = await executeCommand({ ...bound, bg: true }, { context, rest, name: "cmd.run_bg" });
    return { pid };
  },
});

const RUN_CHROOT = {
  root: p.str(),
  cmd: p.any(),
  ...BEFORE_SHELL,
  python_shell: p.bool(true),
  binds: p.any(null),
  ...pickCmdParameters("env", "clean_env", "template", "rstrip", "umask", "output_encoding"),
  output_loglevel: p.str("quiet"),
  ...pickCmdParameters(
    "log_callback",
    "hide_output",
    "timeout",
    "reset_system_locale",
    "ignore_retcode",
    "saltenv",
    "use_vt",
    "bg",
  ),
  ...SUCCESS,
};

export const run_chroot: ModuleFunction<JobContext> = fn({
  doc: describeCmd(
    "Run a command in another root directory, with /dev, /proc, /sys and `binds` mounted during the run, and return a map of\n" +
      "its `pid`, `retcode`, `stdout` and `stderr`. Processes that are left there are ended.",
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
    const { runInChroot } = await import("./chroot.ts");
    return await runInChroot({ root, cmd, binds, runas, group }, context, async (line) =>
      commandResultMap(
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
  params: { shell: p.str(), list_modules: p.bool(false) },
  async run({ shell }, context) {
    const { shellInfo } = await import("#lib/programs/shell_info.ts");
    return await shellInfo(shell, context);
  },
});

const POWERSHELL = {
  cmd: p.any(),
  ...pickCmdParameters("cwd", "stdin", "runas"),
  shell: p.str("powershell"),
  ...pickCmdParameters("env", "clean_env", "template", "rstrip", "umask", "output_encoding", "output_loglevel"),
};

const AFTER_OUTPUT = {
  ...pickCmdParameters("timeout", "reset_system_locale", "ignore_retcode", "saltenv", "use_vt", "password"),
  depth: p.any(null),
  encode_cmd: p.bool(false),
};

/** PowerShell on Linux is not a part of any distribution, and Salt asks Windows' registry for its version. */
function powershellFunction(name: string, params: Parameters): ModuleFunction<JobContext> {
  return fn({
    doc: describe("Always an error: for PowerShell on Windows.", `cmd.${name} Get-Process`),
    params,
    varKwargs: "kwargs",
    run() {
      throw new CommandError(`cmd.${name} is for Windows. Where there is a pwsh: cmd.run 'pwsh -Command …'`);
    },
  });
}

export const powershell: ModuleFunction<JobContext> = powershellFunction("powershell", {
  ...POWERSHELL,
  ...pickCmdParameters("hide_output"),
  ...AFTER_OUTPUT,
  ...SUCCESS,
});

export const powershell_all: ModuleFunction<JobContext> = powershellFunction("powershell_all", {
  ...POWERSHELL,
  quiet: p.bool(false),
  ...AFTER_OUTPUT,
  force_list: p.bool(false),
  ...SUCCESS,
});

export const which: ModuleFunction<JobContext> = fn({
  doc: describe("Return the path of an executable in PATH, or None.", "cmd.which cat"),
  permissions: SEARCH,
  params: { cmd: p.str() },
  run: ({ cmd }) => find(cmd) ?? null,
});

export const which_bin: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the path of the first executable of a list that exists, or None.",
    "cmd.which_bin '[pip2, pip, pip-python]'",
  ),
  permissions: SEARCH,
  params: { cmds: p.any() },
  run: ({ cmds }) => asList(cmds).flatMap((cmd) => find(str(cmd)) ?? []).at(0) ?? null,
});

export const has_exec: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether an executable is found in PATH.", "cmd.has_exec cat"),
  permissions: SEARCH,
  params: { cmd: p.str() },
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
  params: { device: p.str(), echo: p.str("") },
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
