/**
 * Makes the options of a program from Saltfile, configuration files and command line. Prints nothing.
 * @module
 */

import { type CliTable, type CommandLine, type Parsed } from "./command_line.ts";
import type { ConfigRequest, LoadedConfig } from "#lib/config/load.ts";
import { PROCESS, type ProcessEnvironment } from "#lib/config/place.ts";
import { type OptionTable } from "#lib/config/option_types.ts";
import { OPTION_TABLES, type Role } from "#lib/config/options.ts";
import { applySaltfile } from "./saltfile.ts";
import { toValue, type Value } from "#lib/values/value.ts";

/** How {@linkcode startUp} loads. */
export interface StartUpOptions<O> {
  /** Whose options the command line may set. */
  readonly role: Role;
  /** `loadMasterConfig`, `loadClientConfig` or `loadMinionConfig`. */
  load(request: ConfigRequest): LoadedConfig<O>;
  /** Options that a command always sets, by name; they override everything else. */
  readonly fixed?: Readonly<Record<string, Value>>;
  /** Default: the process's own. */
  readonly environment?: ProcessEnvironment;
}

/**
 * The configuration for `command`, of which `parsed` was typed; fills in `parsed` from the Saltfile. An option of the
 * command that has the name of an option of the configuration replaces it.
 * @throws {UsageError} For a bad Saltfile.
 * @throws {ConfigError} For a bad configuration.
 */
export function startUp<T extends CliTable, O>(
  command: CommandLine<T>,
  parsed: Parsed<T>,
  options: StartUpOptions<O>,
): LoadedConfig<O> {
  const environment = options.environment ?? PROCESS;
  const { rest, warnings } = applySaltfile(command, parsed, environment);
  const typed: unknown = parsed.options.config_dir;
  const loaded = options.load({
    configDir: typeof typed === "string" ? typed : undefined,
    overrides: { ...rest, ...configOverrides(parsed, OPTION_TABLES[options.role]), ...options.fixed },
    environment,
  });
  return { ...loaded, warnings: [...warnings, ...loaded.warnings] };
}

/** The options on the command line that `table` lists too. */
function configOverrides<T extends CliTable>(parsed: Parsed<T>, table: OptionTable): Record<string, Value> {
  const overrides: Record<string, Value> = {};
  for (const [name, value] of Object.entries(parsed.options)) {
    if (!parsed.given.has(name) || !Object.hasOwn(table, name)) continue;
    overrides[name] = table[name].type === "bool" ? truthWord(value) : toValue(value);
  }
  return overrides;
}

/** Salt lets some booleans be typed as words: `--state-verbose=False`. */
function truthWord(value: unknown): Value {
  if (typeof value !== "string") return toValue(value);
  return /^true$/i.test(value) ? true : /^false$/i.test(value) ? false : value;
}
