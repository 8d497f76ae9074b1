/**
 * Runs a command as `cmd.*` does: with a shell or without, as another user, with Salt's defaults, results and error
 * texts. Other modules that need a program use it too. Knows of jobs only the methods of {@linkcode CommandHost}.
 * Source: Salt 3008.3, `salt/modules/cmdmod.py`.
 * @module
 */

import { type ChildOutcome, type ChildRunner, type ChildSpec, runChild, startInBackground } from "./child_process.ts";
import {
  buildEnvironment,
  checkWorkingDirectory,
  homeDirectory,
  loginEnvironment,
  parseEnvironment,
} from "./command_environment.ts";
import { wrapCommand } from "./command_wrapper.ts";
import { CommandError, CommandLostError, InvocationError } from "#lib/errors.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { textDecoder } from "#lib/text/encoding.ts";
import { rstrip } from "#lib/values/python_text.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { ownUmask } from "#lib/os/umask.ts";
import { findGroup, findUser } from "#lib/os/users.ts";
import { map, repr, str, truthy, type Value } from "#lib/values/value.ts";
import { isExecutableFile, startable } from "./which.ts";
import { systemError } from "#lib/os/deno_texts.ts";

/** The default shell: that of the minion's own environment. */
export const DEFAULT_SHELL: string = usersShell() ?? "/bin/sh";

/**
 * The variable SHELL; unset if this file is loaded only for its descriptions, without permission to read the
 * environment.
 */
function usersShell(): string | undefined {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "SHELL" });
  return state === "granted" ? Deno.env.get("SHELL") : undefined;
}

/** Default limit of bytes kept of both outputs together. */
const OUTPUT_MAX = 32 << 20;

/** Arguments with Salt's names; only `cmd` is required. */
export interface CommandRequest {
  /** A command line, or a list of words. */
  readonly cmd: Value;
  /** Absolute path of the working directory; default: the user's home. */
  readonly cwd?: string | null;
  /** The command's input: bytes, or a text in which `\n` becomes a line end unless `stdin_raw_newlines`. */
  readonly stdin?: Value;
  /** Whether `\n` in `stdin` stays as it is. */
  readonly stdin_raw_newlines?: boolean;
  /** Name of the user to run as. */
  readonly runas?: string | null;
  /** Name of the primary group to run with. */
  readonly group?: string | null;
  /** Path of the shell; default: {@linkcode DEFAULT_SHELL}. */
  readonly shell?: string;
  /** Whether `shell` interprets the command; otherwise it is split into words and started directly. */
  readonly python_shell?: boolean | null;
  /** Additional environment variables: a map or a list of maps. */
  readonly env?: Value;
  /** Whether the minion's own environment is left out. */
  readonly clean_env?: boolean;
  /** Directories to put before `PATH`. */
  readonly prepend_path?: string | null;
  /** Whether white space at the end of the output is removed; default true. */
  readonly rstrip?: boolean;
  /** Octal digits. */
  readonly umask?: Value;
  /** Python's name of the output's encoding; default UTF-8. */
  readonly output_encoding?: string | null;
  /** Level at which the output is logged; `quiet` logs nothing. */
  readonly output_loglevel?: string;
  /** Seconds. */
  readonly timeout?: number | null;
  /** Whether the locale becomes C unless it is set; default true. */
  readonly reset_system_locale?: boolean;
  /** Whether a return code other than 0 is not a failure. */
  readonly ignore_retcode?: boolean;
  /** Whether to return at once and leave the command running. */
  readonly bg?: boolean;
  /** Whether stderr is merged into stdout, in the order of writing; of a watched command in the order of reading. */
  readonly redirect_stderr?: boolean;
  /** Return codes that become 0; a list, or text with commas. */
  readonly success_retcodes?: Value;
  /** Texts in stdout that make the return code 0. */
  readonly success_stdout?: Value;
  /** Texts in stderr that make the return code 0. */
  readonly success_stderr?: Value;
  /** Refused: the caller renders. */
  readonly template?: string | null;
  /** Ignored, with a warning. */
  readonly use_vt?: boolean | null;
}

/** The parts of a job that running a command uses; a `JobContext` provides them. */
export interface CommandHost {
  /** Aborted when the job must end. */
  readonly signal: AbortSignal;
  /** Called when a child starts, and when it is no longer waited for. */
  child(pid: number, state: "started" | "ended"): void;
  /** Maximum bytes of output that are kept. Default: 32 MiB. */
  readonly outputMax?: number;
  /** Runs the command. Default: in this process, with which it ends. */
  readonly runChild?: ChildRunner;
  /** Called with the output as it is read. */
  output?(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** Writes to the minion's log. */
  log(level: "error" | "warning" | "info" | "debug", message: string): void;
}

export interface CommandResult {
  /** The command's process id. */
  readonly pid: number;
  /** Negative: the signal that ended it. `null`: a command in the background. 1 after a timeout. */
  readonly retcode: number | null;
  /** After a timeout, the sentence that says so. */
  readonly stdout: string;
  /** Empty after a timeout, and if it was merged into stdout. */
  readonly stderr: string;
  /** Whether some output was dropped; then the text says how much, at its end. */
  readonly cut?: boolean;
}

/**
 * Runs a command to its end, or starts it in the background.
 * @throws {CommandError} If it cannot be started: the shell, user, group, directory or program does not exist.
 * @throws {InvocationError} For invalid arguments.
 */
export async function runCommand(request: CommandRequest, host: CommandHost): Promise<CommandResult> {
  const plan = await planCommand(request, host);
  try {
    if (request.bg === true) {
      return { pid: startInBackground(plan.spec), retcode: null, stdout: "", stderr: "" };
    }
    return outcomeOf(await startChild(plan, host), plan, host);
  } catch (error) {
    host.signal.throwIfAborted();
    if (error instanceof CommandLostError) throw error;
    throw error instanceof Error ? plan.refuse(spawnReason(error, plan.words[0])) : error;
  }
}

/** A command that can be started, and what is done with its output. */
interface CommandPlan {
  readonly request: CommandRequest;
  readonly words: string[];
  readonly spec: ChildSpec;
  readonly decode: ReturnType<typeof textDecoder>;
  readonly succeeded: ReturnType<typeof successRule>;
  /** Whether nothing of the command is logged. */
  readonly quiet: boolean;
  /** Seconds; 0: no limit. */
  readonly timeout: number;
  /** Maximum bytes of output that are kept. */
  readonly outputMax: number;
  /** The error for a command that cannot be started. */
  refuse(reason: string): CommandError;
}

/**
 * Checks a command's arguments, and finds what is started.
 * @throws {CommandError | InvocationError}
 */
async function planCommand(request: CommandRequest, host: CommandHost): Promise<CommandPlan> {
  const { shell = DEFAULT_SHELL, cmd, output_loglevel = "debug" } = request;
  if (!isExecutableFile(shell)) throw new CommandError(`The shell ${shell} is not available`);
  if (truthy(request.template ?? null)) {
    throw new CommandError(`Attempted to render the command with the unavailable engine ${request.template}`);
  }
  if (request.use_vt === true) host.log("warning", "use_vt is ignored: commands run without a terminal");
  const decode = textDecoder(request.output_encoding ?? null);
  const succeeded = successRule(request);
  const quiet = output_loglevel === "quiet";

  const user = findOrRefuse(request.runas, findUser, "User");
  const group = findOrRefuse(request.group, findGroup, "Group");
  const cwd = request.cwd === undefined || request.cwd === null || request.cwd === ""
    ? homeDirectory(user, () => findUser(Deno.uid() ?? 0))
    : request.cwd;
  const words = commandWords(cmd, request.python_shell === true ? shell : undefined);
  if (!quiet) host.log("info", runLogLine(request, { first: firstWord(cmd), cwd }));
  const env = buildEnvironment({
    given: parseEnvironment(request.env ?? null),
    login: user === undefined
      ? {}
      : await loginEnvironment(user, { shell, signal: host.signal, log: (level, text) => host.log(level, text) }),
    clean: request.clean_env ?? false,
    prependPath: request.prepend_path ?? null,
    resetLocale: request.reset_system_locale ?? true,
  });
  const umask = parseUmask(request.umask ?? null) ?? ownUmask()?.toString(8).padStart(4, "0");
  checkWorkingDirectory(cwd);

  const refuse = (reason: string) =>
    new CommandError(
      `Unable to run command '${quiet ? "REDACTED" : str(displayedCommand(request, words))}' ` +
        `with the context '${repr(spawnContext(request, { cwd, shell }))}', reason: ${reason}`,
    );
  const program = words[0];
  const start = startable(program, { cwd, path: env.PATH });
  if (start === "missing") throw refuse(`[Errno 2] No such file or directory: ${repr(program)}`);
  if (start === "forbidden") throw refuse(`[Errno 13] Permission denied: ${repr(program)}`);
  const joined = joinsOutput(request);
  // With live output, the operator sees which lines are standard error, so both are joined while they are read.
  const watched = host.output !== undefined;
  const spec: ChildSpec = {
    ...wrapCommand(words, { user, group, umask, joinOutput: joined && !watched, env }),
    cwd,
    env,
    ...joined && watched && { joined },
  };
  const limits = { timeout: request.timeout ?? 0, outputMax: host.outputMax ?? OUTPUT_MAX };
  return { request, words, spec, decode, succeeded, quiet, refuse, ...limits };
}

function startChild({ request, spec, timeout, outputMax }: CommandPlan, host: CommandHost): Promise<ChildOutcome> {
  return (host.runChild ?? runChild)(
    { ...spec, stdin: standardInput(request) },
    {
      signal: host.signal,
      child: (pid, state) => host.child(pid, state),
      ...host.output && { output: (stream, bytes) => host.output?.(stream, bytes) },
      timeoutMs: timeout === 0 ? undefined : timeout * 1000,
      outputMax,
    },
  );
}

/** What is returned of a command that has ended, or took too long. */
function outcomeOf(
  outcome: ChildOutcome,
  { request, words, decode, succeeded, quiet, timeout, outputMax }: CommandPlan,
  host: CommandHost,
): CommandResult {
  const { cmd } = request;
  if (outcome.timedOut) {
    const stdout = `${str(displayedCommand(request, words))} : Timed out after ${timeout} seconds`;
    return { pid: outcome.pid, retcode: 1, stdout, stderr: "" };
  }
  const [stdout, stderr] = (["stdout", "stderr"] as const).map((name) => {
    const { text, exact } = decode(outcome[name]);
    const dropped = outcome.dropped[name];
    if (!exact && !quiet && dropped === 0) {
      host.log(
        "error",
        `Failed to decode ${name} from command ${firstWord(cmd)}, non-decodable characters have been replaced`,
      );
    }
    const output = request.rstrip === false ? text : rstrip(text);
    return dropped === 0 ? output : `${output}\n${cutNotice(name, dropped, outputMax)}`;
  });
  const cut = outcome.dropped.stdout + outcome.dropped.stderr > 0;
  if (cut) {
    host.log(
      "error",
      `Command '${firstWord(cmd)}' wrote more than output_max, ${outputMax} bytes: its output was cut`,
    );
  }
  const retcode = succeeded({ retcode: outcome.retcode, stdout, stderr }) ? 0 : outcome.retcode;
  const result = { pid: outcome.pid, retcode, stdout, stderr, ...cut && { cut } };
  if (!quiet) logResult(request, result, host);
  return result;
}

/** The text at the place where output was cut. */
function cutNotice(name: string, dropped: number, outputMax: number): string {
  return `[${name} was cut here: ${dropped} more bytes were written, and ${outputMax} are kept of a command's output (output_max)]`;
}

function findOrRefuse<T>(
  name: string | null | undefined,
  find: (name: string) => T | undefined,
  kind: "User" | "Group",
): T | undefined {
  if (name === undefined || name === null || name === "") return undefined;
  const account = find(name);
  if (account === undefined) throw new CommandError(`${kind} '${name}' is not available`);
  return account;
}

/** The words to start: the shell with the command line, or the command itself. */
function commandWords(cmd: Value, shell: string | undefined): string[] {
  const listed = Array.isArray(cmd) ? cmd.map((word) => str(word)) : undefined;
  const words = shell === undefined ? listed ?? shlexSplit(str(cmd)) : [shell, "-c", ...(listed ?? [str(cmd)])];
  const empty = listed === undefined ? str(cmd).trim() === "" : listed.length === 0;
  if (empty || words.length === 0) throw new InvocationError("The command is empty");
  if (words.some((word) => word.includes("\0"))) throw new InvocationError("embedded null byte");
  return words;
}

/** The command as Salt shows it in messages: what it would pass to Python's Popen. */
function displayedCommand(request: CommandRequest, words: string[]): Value {
  return request.python_shell === true && !Array.isArray(request.cmd)
    ? str(request.cmd)
    : Array.isArray(request.cmd)
    ? request.cmd
    : words;
}

function firstWord(cmd: Value): string {
  return Array.isArray(cmd) ? str(cmd[0]).trim() : str(cmd).trim().split(/\s/, 1)[0];
}

function runLogLine(request: CommandRequest, { first, cwd }: { first: string; cwd: string }): string {
  const runas = request.runas ? `as user '${request.runas}' ` : "";
  const group = request.group ? `in group '${request.group}' ` : "";
  const background = request.bg ? ". Executing command in the background, no output will be logged." : "";
  return `Executing command '${first}' ${runas}${group}in directory '${cwd}'${background}`;
}

/** The context of a failed start in messages: Salt's arguments of Popen, without secrets. */
function spawnContext(request: CommandRequest, { cwd, shell }: { cwd: string; shell: string }): Value {
  const PIPE = -1, STDOUT = -2;
  return map({
    cwd,
    shell: request.python_shell ?? false,
    stdout: PIPE,
    stderr: request.redirect_stderr ? STDOUT : PIPE,
    with_communicate: true,
    timeout: request.timeout ?? null,
    bg: request.bg ?? false,
    ...request.python_shell ? { executable: shell } : {},
    close_fds: true,
  });
}

/** Python's text for Deno's error of a failed start. */
function spawnReason(error: Error, program: string): string {
  const reason = systemError(error);
  return reason === undefined ? error.message : `[Errno ${reason.number}] ${reason.reason}: ${repr(program)}`;
}

function joinsOutput(request: CommandRequest): boolean {
  return request.redirect_stderr === true && request.bg !== true;
}

function parseUmask(umask: Value): string | undefined {
  if (umask === null) return undefined;
  const digits = str(umask).replace(/^0+/, "");
  if (digits === "") throw new CommandError("Zero umask is not allowed.");
  if (!/^[0-7]{1,4}$/.test(digits)) throw new CommandError(`Invalid umask: '${str(umask)}'`);
  return digits.padStart(4, "0");
}

function standardInput({ stdin = null, stdin_raw_newlines = false }: CommandRequest): Uint8Array | undefined {
  if (stdin === null || stdin instanceof Uint8Array) return stdin ?? undefined;
  return new TextEncoder().encode(stdin_raw_newlines ? str(stdin) : str(stdin).replaceAll("\\n", "\n"));
}

function successRule(request: CommandRequest): (done: { retcode: number; stdout: string; stderr: string }) => boolean {
  const { success_retcodes = null, success_stdout = null, success_stderr = null } = request;
  const codes = success_retcodes === null ? ["0"] : splitInput(success_retcodes);
  if (!codes.every((code) => /^\s*[+-]?\d+\s*$/.test(code))) {
    throw new InvocationError("success_retcodes must be a list of integers");
  }
  const numbers = codes.map(Number);
  const outs = success_stdout === null ? [] : splitInput(success_stdout);
  const errs = success_stderr === null ? [] : splitInput(success_stderr);
  return ({ retcode, stdout, stderr }) =>
    numbers.includes(retcode) || outs.some((out) => stdout.includes(out)) || errs.some((err) => stderr.includes(err));
}

/** Maximum output in a log line, in UTF-16 units: more is useless there, and costs time. */
const LOGGED_OUTPUT = 4096;

function logResult(request: CommandRequest, result: CommandResult, host: CommandHost): void {
  const failed = request.ignore_retcode !== true && result.retcode !== 0;
  const level = failed ? "error" : OUTPUT_LEVELS[request.output_loglevel?.toLowerCase() ?? "debug"] ?? "info";
  if (failed) host.log("error", `Command '${firstWord(request.cmd)}' failed with return code: ${result.retcode}`);
  for (const name of ["stdout", "stderr"] as const) {
    const text = result[name];
    const rest = text.length - LOGGED_OUTPUT;
    if (text !== "") host.log(level, `${name}: ${text.slice(0, LOGGED_OUTPUT)}${rest > 0 ? ` … (${rest} more)` : ""}`);
  }
  if (result.retcode !== 0) host.log(level, `retcode: ${result.retcode}`);
}

/** Salt's log levels mapped to those that a job can use. */
const OUTPUT_LEVELS: Readonly<Record<string, "error" | "warning" | "info" | "debug">> = {
  critical: "error",
  error: "error",
  warning: "warning",
  info: "info",
  profile: "debug",
  debug: "debug",
  trace: "debug",
  garbage: "debug",
  all: "debug",
};
