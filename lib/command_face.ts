/**
 * The common part of every command: help, versions, usage errors, and their exit codes.
 * @module
 */

import { helpText, usageText } from "./command_help.ts";
import { type CliTable, type CommandLine, parseCommandLine, type Parsed } from "./command_line.ts";
import { UsageError } from "./errors.ts";
import { VERSION_TEXT, versionsReport } from "./version.ts";

/** Exit code of a command line that cannot be understood (sysexits EX_USAGE). */
export const EX_USAGE = 64;

/** Where a command writes. */
export interface Terminal {
  /** Writes to standard output. */
  out(text: string): void;
  /** Writes to standard error. */
  err(text: string): void;
  /** Width in characters. Default: 80. */
  readonly columns?: number;
}

/** A command line that is to be run, or the exit code of one that is done with already. */
export type Opening<T extends CliTable> = { readonly parsed: Parsed<T> } | { readonly exitCode: number };

/** Parses `argv`, and answers help, versions and mistakes itself. */
export async function openCommandLine<T extends CliTable>(
  command: CommandLine<T>,
  argv: readonly string[],
  terminal: Terminal,
): Promise<Opening<T>> {
  try {
    const request = parseCommandLine(command, argv);
    if (request.kind === "run") return { parsed: request.parsed };
    if (request.kind === "help") terminal.out(helpText(command, terminal.columns));
    if (request.kind === "version") terminal.out(`${command.prog} ${VERSION_TEXT}\n`);
    if (request.kind === "versions") terminal.out(`${await versionsReport()}\n`);
    return { exitCode: 0 };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    terminal.err(usageErrorText(command, error));
    return { exitCode: EX_USAGE };
  }
}

/** What standard error is told of a {@linkcode UsageError}; the exit code is {@linkcode EX_USAGE}. */
export function usageErrorText<T extends CliTable>(command: CommandLine<T>, error: UsageError): string {
  return `${usageText(command)}\n${command.prog}: error: ${error.message}\n`;
}
