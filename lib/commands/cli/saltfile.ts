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
import { readConfigFile } from "#lib/config/files.ts";
import type { ProcessEnvironment } from "#lib/config/place.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { isTrustedFile } from "#lib/os/trusted_path.ts";
import { UsageError } from "#lib/errors.ts";
import { absolutePathIn } from "#lib/os/root_path.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";

/** The Saltfile to use, if there is one, and what the user should know about another. */
export interface FoundSaltfile {
  readonly path: string | undefined;
  readonly warnings: readonly string[];
}

/**
 * The Saltfile to use: the one on the command line, what `SALT_SALTFILE` names, `./Saltfile`, `~/.salt/Saltfile`. Root
 * chooses a current directory for other reasons than its Saltfile, which can name code to run, and sudo may leave a
 * user's `HOME` to root: there one counts only if nobody else can change it.
 * @throws {UsageError} If one was named and is not there.
 */
export function findSaltfile(typed: string | null, { env, cwd }: ProcessEnvironment): FoundSaltfile {
  const path = typed ?? env("SALT_SALTFILE");
  if (path) {
    if (!isFile(absolutePathIn(path, cwd))) throw new UsageError(`'${path}' file does not exist.`);
    return { path: absolutePathIn(path, cwd), warnings: [] };
  }
  const here = `${cwd}/Saltfile`, own = `${env("HOME") ?? ""}/.salt/Saltfile`;
  const warnings: string[] = [];
  for (const usual of [here, own].filter(isFile)) {
    if (Deno.uid() !== 0 || isTrustedFile(usual)) return { path: usual, warnings };
    warnings.push(`${usual} is ignored: other users than root may change it; name it with --saltfile to use it`);
  }
  return { path: undefined, warnings };
}

/** What applies besides the options of the command. */
export interface AppliedSaltfile {
  /** The section's other keys: configuration. */
  readonly rest: Readonly<Record<string, Value>>;
  readonly warnings: readonly string[];
}

/**
 * Fills in the options that were not typed from the command's section of its Saltfile.
 * @throws {UsageError} For a Saltfile that is not there, and for a value that does not fit its option.
 * @throws {ConfigError} For one that cannot be read or is not a YAML mapping.
 */
export function applySaltfile<T extends CliTable>(
  command: CommandLine<T>,
  parsed: Parsed<T>,
  environment: ProcessEnvironment,
): AppliedSaltfile {
  const typed: unknown = parsed.options.saltfile;
  const { path, warnings } = findSaltfile(typeof typed === "string" ? typed : null, environment);
  const section = path === undefined ? undefined : readConfigFile(path)?.get(command.prog)?.value;
  const rest: Record<string, Value> = {};
  if (!isMap(section)) return { rest, warnings };
  for (const [key, value] of section) {
    const name = str(key);
    if (Object.hasOwn(command.options, name)) setFromFile(command, parsed, [name, value]);
    else rest[name] = value;
  }
  return { rest, warnings };
}
