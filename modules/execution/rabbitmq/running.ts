/**
 * How the functions of `rabbitmq` run rabbitmqctl and rabbitmq-plugins, and read what they print.
 * Source: Salt 3008.3 `salt/modules/rabbitmq.py`; rabbitmqctl(8).
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { checkedWord, type ProgramOptions, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The argument that all functions have: the user of this host who runs the program. */
export const RUNAS = { runas: p.str(null) };

/** Operands of the program: after `--` if one of them begins as an option does, such as a password. */
export function operands(...words: readonly string[]): string[] {
  return words.some((word) => word.startsWith("-")) ? ["--", ...words] : [...words];
}

/** The words that name a virtual host. */
export function ofVirtualHost(vhost: string): string[] {
  return ["-p", checkedWord(vhost, "virtual host")];
}

/** Runs rabbitmqctl. */
export function control(
  words: readonly string[],
  runas: string | null,
  context: JobContext,
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const program = which("rabbitmqctl") ?? "rabbitmqctl";
  return runProgram([program, ...words], context, { runas, setsRetcode: true, ...options });
}

/** Runs rabbitmq-plugins, which some packages keep out of PATH. */
export async function plugins(
  words: readonly string[],
  runas: string | null,
  context: JobContext,
): Promise<ProgramResult> {
  const program = which("rabbitmq-plugins") ??
    `/usr/lib/rabbitmq/lib/rabbitmq_server-${await packageVersion(context)}/sbin/rabbitmq-plugins`;
  return await runProgram([program, ...words], context, { runas, setsRetcode: true });
}

/** The version of the package; empty if it was not installed as one. */
export async function packageVersion(context: JobContext): Promise<string> {
  if (await context.catalogue.get("pkg.version") === undefined) return "";
  return str(await context.call("pkg.version", ["rabbitmq-server"])).split("-")[0];
}

/**
 * The output of a program that went well.
 * @throws {CommandError} If it failed, or printed an error.
 */
export function checkedOutput({ retcode, stdout, stderr }: ProgramResult): string {
  if (retcode === 0 && stderr === "") return stdout;
  throw new CommandError(`RabbitMQ command failed: ${stderr}`);
}

/**
 * The lines that are data: no headings, no warnings.
 * @param titles The titles of the columns, which the program prints since its version 3.8.
 */
export function dataLines(output: string, titles: readonly string[] = []): string[] {
  const lines = splitLines(output).filter((line) =>
    line !== "" && !line.startsWith("WARNING:") && !line.includes("...done") &&
    !(line.startsWith("Listing") && (line.endsWith("...") || !line.includes("\t")))
  );
  return titles.length > 0 && lines[0] === titles.join("\t") ? lines.slice(1) : lines;
}

/** The words of the lines that are data. */
export function dataWords(output: string, titles?: readonly string[]): string[] {
  return dataLines(output, titles).flatMap(splitWhitespace);
}

/** Rows by their first column; a row of one column is an empty text. */
export function rowsByName(
  output: string,
  titles: readonly string[],
  read: (rest: string) => Value = (rest) => rest.split("\t"),
): ValueMap {
  return new Map(
    dataLines(output, titles).map((line): [Value, Value] => {
      const tab = line.indexOf("\t");
      return tab < 0 ? [line, ""] : [line.slice(0, tab), read(line.slice(tab + 1))];
    }),
  );
}
