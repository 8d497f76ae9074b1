/**
 * The kernel's parameters, by sysctl, and the files that set them at boot.
 * Source: Salt 3008.3, `salt/modules/linux_sysctl.py`; sysctl(8), sysctl.d(5).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import type { CommandHost } from "#lib/programs/command.ts";
import { checkedWord, requireProgram, runProgram } from "#lib/programs/run_program.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { writeLines } from "./settings_file.ts";

/** The parameters of `sysctl -a`. */
export function parseParameters(text: string): Map<string, string> {
  return new Map(
    text.split("\n").flatMap((line): [string, string][] => {
      const equals = line.indexOf(" = ");
      return equals < 0 ? [] : [[line.slice(0, equals), line.slice(equals + 3)]];
    }),
  );
}

/** The parameters in a file of sysctl. */
export function parseParameterFile(text: string): Map<string, string> {
  return new Map(
    text.split("\n").flatMap((line): [string, string][] => {
      const [, name, value] = /^\s*([^#=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );
}

/**
 * A parameter's name as an argument.
 * @throws {InvocationError} If it could be something else.
 */
function parameterName(name: string): string {
  if (/[\s=]/.test(name) || name.split(/[./]/).includes("")) {
    throw new InvocationError(`Invalid parameter: ${JSON.stringify(name)}`);
  }
  return checkedWord(name, "parameter");
}

/** The parameters of `sysctl -a` that this user may read. */
export async function allParameters(host: CommandHost): Promise<Map<string, string>> {
  return parseParameters((await runProgram([requireProgram("sysctl"), "-a"], host)).stdout);
}

/** A parameter's value; sysctl's error message if there is none. */
export async function getParameter(name: string, host: CommandHost): Promise<string> {
  const { stdout, stderr } = await runProgram([requireProgram("sysctl"), "-n", parameterName(name)], host);
  return stdout || stderr;
}

/**
 * Sets a parameter until the next boot.
 * @throws {CommandError} If the kernel does not accept it.
 */
export async function setParameter(name: string, value: string, host: CommandHost): Promise<Map<string, string>> {
  const path = parameterName(name).replace(/[./]/g, (one) => one === "." ? "/" : ".");
  if (!lexistsOrThrow(`/proc/sys/${path}`)) throw new CommandError(`sysctl ${name} does not exist`);
  if (/[\n\0]/.test(value)) throw new InvocationError(`Invalid value: ${JSON.stringify(value)}`);
  const { retcode, stdout, stderr } = await runProgram([requireProgram("sysctl"), "-w", `${name}=${value}`], host);
  const set = parseParameters(stdout);
  if (set.get(name) !== value || stderr.includes("Invalid argument")) {
    throw new CommandError(`sysctl -w failed: ${retcode !== 0 && stderr !== "" ? stderr : stdout}`);
  }
  return set;
}

/** White space as in the kernel's output. */
function plain(value: string): string {
  return value.replace(/\s+/g, "\t");
}

/**
 * Sets a parameter now and for each boot.
 * @returns Salt's text for the result.
 */
export async function persistParameter(
  name: string,
  value: string,
  config: string,
  host: CommandHost,
): Promise<"Updated" | "Already set"> {
  parameterName(name);
  const text = readTextFileIfExists(config) ?? "#\n# Kernel sysctl configuration\n#\n";
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const isMeant = (line: string) => parseParameterFile(line).has(name);
  // The last of several lines is used at boot.
  const old = lines.filter(isMeant).map((line) => plain(parseParameterFile(line).get(name) ?? ""));
  if (old.length > 0 && old.every((one) => one === plain(value))) {
    if (plain(await getParameter(name, host)) === plain(value)) return "Already set";
  } else {
    if (/[\n\0]/.test(value)) throw new InvocationError(`Invalid value: ${JSON.stringify(value)}`);
    const line = `${name} = ${value}`;
    writeLines(config, old.length === 0 ? [...lines, line] : lines.map((one) => isMeant(one) ? line : one));
  }
  await setParameter(name, value, host);
  return "Updated";
}
