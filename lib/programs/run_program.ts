/**
 * Runs a program with its arguments as a list, so that no shell reads them, in the C locale, which parsers of its
 * output need. For the modules that use the host's own tools.
 * @module
 */

import { type CommandHost, type CommandResult, runCommand } from "./command.ts";
import { CommandError, CommandNotFoundError, InvocationError } from "#lib/errors.ts";
import type { Value } from "#lib/values/value.ts";
import { which } from "./which.ts";

/** Options for running a program. */
export interface ProgramOptions {
  /** More environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Time limit in seconds; then it is ended, its `retcode` is 1, and its `stdout` gives the reason. */
  readonly timeout?: number;
  readonly cwd?: string;
  /** The user to run it as. */
  readonly runas?: string | null;
  /** Whether a return code other than 0 is an error in the minion's log. Default: no. */
  readonly logsFailure?: boolean;
  /** Whether a return code other than 0 is logged, and becomes the job's. Default: no. */
  readonly setsRetcode?: boolean;
  /** Whether stderr is merged into stdout, in the order of writing. */
  readonly joined?: boolean;
  /** Python's name of the output's encoding; default UTF-8. */
  readonly encoding?: string | null;
  /** Whether nothing of it is logged, because a secret is in its arguments or its input. */
  readonly secret?: boolean;
}

/** The outcome of a program. */
export interface ProgramResult {
  readonly pid: number;
  /** Negative: the signal that ended it. */
  readonly retcode: number;
  /** Without white space at the end. */
  readonly stdout: string;
  /** Without white space at the end. */
  readonly stderr: string;
}

/** The parts of a job that running programs uses; a job's context provides them. */
export interface ProgramHost extends CommandHost {
  /** Sets the job's return code. */
  setRetcode?(retcode: number): void;
}

/**
 * Runs a program to its end.
 * @throws {CommandError} If it cannot be started.
 */
export async function runProgram(
  words: readonly string[],
  host: ProgramHost,
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const env: Value = new Map(Object.entries({ LC_ALL: "C", LANG: "C", ...options.env }));
  const result: CommandResult = await runCommand({
    cmd: [...words],
    python_shell: false,
    cwd: options.cwd ?? "/",
    env,
    ignore_retcode: options.logsFailure !== true && options.setsRetcode !== true,
    output_loglevel: options.secret === true ? "quiet" : "debug",
    stdin_raw_newlines: true,
    shell: "/bin/sh",
    ...options.stdin !== undefined && { stdin: options.stdin },
    ...options.timeout !== undefined && { timeout: options.timeout },
    ...options.runas !== undefined && { runas: options.runas },
    ...options.joined === true && { redirect_stderr: true },
    ...options.encoding !== undefined && { output_encoding: options.encoding },
  }, host);
  const { pid, stdout, stderr } = result;
  const retcode = result.retcode ?? 0;
  if (retcode !== 0 && options.setsRetcode === true) host.setRetcode?.(retcode);
  return { pid, retcode, stdout, stderr };
}

/**
 * Like {@linkcode runProgram}, returns only its output.
 * @throws {CommandError} Also if its return code is not 0.
 */
export async function outputOf(
  words: readonly string[],
  host: ProgramHost,
  options: ProgramOptions = {},
): Promise<string> {
  const { retcode, stdout, stderr } = await runProgram(words, host, options);
  if (retcode === 0) return stdout;
  throw new CommandError(stderr || stdout || `${words[0]} ended with return code ${retcode}`);
}

/**
 * The path of a program.
 * @throws {CommandError} If it is not there.
 */
export function requireProgram(name: string): string {
  const path = which(name);
  if (path === undefined) throw new CommandError(`Command '${name}' cannot be found`);
  return path;
}

/**
 * Like Salt's decorator `which` of functions that start programs.
 * @throws {CommandNotFoundError} If one is not there.
 */
export function needPrograms(...names: readonly string[]): void {
  const missing = names.find((name) => which(name) === undefined);
  if (missing !== undefined) throw new CommandNotFoundError(`The '${missing}' binary was not found in $PATH.`);
}

/**
 * Like Salt's decorator `which_bin`: the first program that is there.
 * @throws {CommandNotFoundError} If none is.
 */
export function needOneOf(...names: readonly string[]): string {
  const program = names.find((name) => which(name) !== undefined);
  if (program !== undefined) return program;
  const list = names.map((name) => `"'${name}'"`).join(", ");
  throw new CommandNotFoundError(`None of provided binaries([${list}]) were found in $PATH.`);
}

/**
 * Checks a word that becomes an argument of a program, which must not be an option or contain line ends.
 * @param what Its meaning, for the error: `package name`.
 * @throws {InvocationError} If it is empty, begins with `-`, or has a control character in it.
 */
export function checkedWord(word: string, what: string): string {
  // deno-lint-ignore no-control-regex
  if (word !== "" && !word.startsWith("-") && !/[\x00-\x1f\x7f]/.test(word)) return word;
  throw new InvocationError(`Invalid ${what}: ${JSON.stringify(word)}`);
}
