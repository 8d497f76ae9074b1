/**
 * Salt's `Saltfile`: defaults for command lines, a section for each command.
 *
 *     salt-key:
 *       config_dir: etc/salt
 *       output: json
 *
 * Options on the command line have precedence. A key that is not an option of the command is configuration. Source:
 * salt/utils/parsers (SaltfileMixIn).
 * @module
 */

import { type CliTable, type CommandLine, type Parsed, setFromFile } from "./command_line.ts";
import { readConfigFile } from "../config/files.ts";
import type { ProcessEnvironment } from "../config/place.ts";
import { isFile } from "../os/file_kind.ts";
import { UsageError } from "../errors.ts";
import { absolutePath } from "../os/root_path.ts";
import { isMap, str, type Value } from "../values/value.ts";

/**
 * The Saltfile to use: the one on the command line, what `SALT_SALTFILE` names, `./Saltfile`, `~/.salt/Saltfile`.
 * @throws {UsageError} If one was named and is not there.
 */
export function findSaltfile(typed: string | null, { env, cwd }: ProcessEnvironment): string | undefined {
  const named = typed ?? env("SALT_SALTFILE");
  if (named) {
    if (!isFile(absolutePath(named, cwd))) throw new UsageError(`'${named}' file does not exist.`);
    return absolutePath(named, cwd);
  }
  return [`${cwd}/Saltfile`, `${env("HOME") ?? ""}/.salt/Saltfile`].find(isFile);
}

/**
 * Fills in the options that were not typed from the command's section of its Saltfile.
 * @returns What the section holds besides them, by name: configuration.
 * @throws {UsageError} For a Saltfile that is not there, and for a value that does not fit its option.
 * @throws {ConfigError} For one that cannot be read or is not a YAML mapping.
 */
export function applySaltfile<T extends CliTable>(
  command: CommandLine<T>,
  parsed: Parsed<T>,
  environment: ProcessEnvironment,
): Record<string, Value> {
  const typed: unknown = parsed.options.saltfile;
  const file = findSaltfile(typeof typed === "string" ? typed : null, environment);
  const section = file === undefined ? undefined : readConfigFile(file)?.get(command.prog)?.value;
  const rest: Record<string, Value> = {};
  if (!isMap(section)) return rest;
  for (const [key, value] of section) {
    const name = str(key);
    if (Object.hasOwn(command.options, name)) setFromFile(command, parsed, [name, value]);
    else rest[name] = value;
  }
  return rest;
}
