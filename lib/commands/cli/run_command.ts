/**
 * The common part of every command: input and output, help, versions, error messages, and exit codes.
 * @module
 */

import { helpText, usageText } from "./help.ts";
import { type CliTable, type CommandLine, parseCommandLine, type Parsed } from "./command_line.ts";
import { ConfigError, PreflightError, UsageError } from "#lib/errors.ts";
import { EX_INTERRUPTED, interruptedCode } from "./exit_codes.ts";
import { EX_NOPERM, EX_USAGE } from "#lib/runtime/sysexits.ts";
import { sanitize } from "#lib/text/terminal.ts";
import { VERSION_TEXT } from "#lib/version.ts";

/** Where a command writes. */
export interface Terminal {
  /** Writes to standard output. */
  write(text: string): void;
  /** Writes to standard error. */
  writeError(text: string): void;
  /** Width in characters. Default: 80. */
  readonly columns?: number;
}

/** Input and output of a command that prints results. */
export interface CommandIo extends Terminal {
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether standard error is a terminal. */
  readonly isErrorTerminal: boolean;
  /** The environment variable `NO_COLOR`; also set on a terminal that knows no colours. */
  readonly noColor?: string;
  /** Whether the terminal knows no control sequences: `TERM=dumb`. */
  readonly isDumb?: boolean;
}

/** Input and output of a command that runs functions. */
export interface JobIo extends CommandIo {
  /** All of standard input. */
  readStdin(): Promise<string>;
  /** Asks on the terminal; `undefined` at the end of the input. Absent if no questions are allowed. */
  ask?(question: string, options: { readonly hidden: boolean }): Promise<string | undefined>;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
}

/** A command line to run, or the exit code if everything is done already. */
export type OpenedCommand<T extends CliTable> = { readonly parsed: Parsed<T> } | { readonly exitCode: number };

/** Parses `argv`; handles help, versions and usage errors. */
export async function openCommandLine<T extends CliTable>(
  command: CommandLine<T>,
  argv: readonly string[],
  terminal: Terminal,
): Promise<OpenedCommand<T>> {
  try {
    const request = parseCommandLine(command, argv);
    if (request.kind === "run") return { parsed: request.parsed };
    if (request.kind === "help") terminal.write(helpText(command, terminal.columns));
    if (request.kind === "version") terminal.write(`${command.prog} ${VERSION_TEXT}\n`);
    if (request.kind === "versions") {
      // Loaded late: most runs do not need it.
      const { versionsReport } = await import("#lib/programs/versions.ts");
      terminal.write(`${await versionsReport()}\n`);
    }
    if (request.kind === "licenses") {
      const { licensesText } = await import("#lib/programs/licenses.ts");
      terminal.write(licensesText());
    }
    return { exitCode: 0 };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.writeError(usageErrorText(command, error));
    return { exitCode: EX_USAGE };
  }
}

/** The text on standard error for a {@linkcode UsageError}; the exit code is {@linkcode EX_USAGE}. */
function usageErrorText<T extends CliTable>(command: CommandLine<T>, error: UsageError): string {
  return sanitize(`${usageText(command)}\n${command.prog}: error: ${error.message}\n`);
}

/** How a command reports an expected error. */
export interface Failure {
  readonly exitCode: number;
  /** The text on standard error. Default: the command's name and the error's message. */
  readonly text?: string;
}

/** One command, as {@linkcode runCli} runs it. */
export interface CommandDefinition<T extends CliTable> {
  readonly command: CommandLine<T>;
  /** The user who, besides root, may run it: `the master's user`. */
  readonly owner: string;
  /** @returns The exit code. */
  run(parsed: Parsed<T>): Promise<number>;
  /**
   * Handles the command's own errors. Errors in the command line, the configuration and permissions are handled for
   * every command.
   */
  failure?(error: Error, parsed: Parsed<T>): Failure | undefined;
}

/**
 * Runs a command and reports its errors.
 * @returns The exit code.
 * @throws Unexpected errors.
 */
export async function runCli<T extends CliTable>(
  definition: CommandDefinition<T>,
  argv: readonly string[],
  io: Terminal & { readonly signal?: AbortSignal },
): Promise<number> {
  const opening = await openCommandLine(definition.command, argv, io);
  if ("exitCode" in opening) return opening.exitCode;
  try {
    return await definition.run(opening.parsed);
  } catch (error) {
    // After Ctrl-C, any error of an aborted wait is expected.
    if (io.signal?.aborted) return interruptedRun({ writeError: io.writeError.bind(io), signal: io.signal });
    const { exitCode, text } = describeFailure(definition, error, opening.parsed);
    io.writeError(sanitize(text));
    return exitCode;
  }
}

function describeFailure<T extends CliTable>(
  { command, owner, failure }: CommandDefinition<T>,
  error: unknown,
  parsed: Parsed<T>,
): Required<Failure> {
  if (error instanceof UsageError) return { exitCode: EX_USAGE, text: usageErrorText(command, error) };
  if (!(error instanceof Error)) throw error;
  const { prog } = command;
  if (error instanceof Deno.errors.PermissionDenied) {
    return { exitCode: EX_NOPERM, text: `${prog}: ${error.message}. Run ${prog} as root or as ${owner}\n` };
  }
  const early = error instanceof ConfigError || error instanceof PreflightError;
  const own = early ? { exitCode: 1 } : failure?.(error, parsed);
  if (own === undefined) throw error;
  return { text: `${prog}: ${error.message}\n`, ...own };
}

/**
 * Reports that Ctrl-C or SIGTERM ended the command.
 * @param more Text to add.
 * @returns The exit code.
 */
export function interruptedRun(
  { writeError, signal }: Pick<Terminal, "writeError"> & { readonly signal: AbortSignal },
  more = "",
): number {
  const code = interruptedCode(signal);
  writeError(`\nExiting gracefully on ${code === EX_INTERRUPTED ? "Ctrl-c" : "SIGTERM"}${more}\n`);
  return code;
}
