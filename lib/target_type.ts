/**
 * Which type of target the options of a command line ask for.
 * Source: Salt's utils/parsers.py (`TargetOptionsMixIn`).
 * @module
 */

import { TARGET_CLI_OPTIONS } from "./common_cli_options.ts";
import { UsageError } from "./errors.ts";

/** Salt's names of the target types, by option. */
const TARGET_TYPES = {
  list_hosts: "list_hosts",
  pcre: "pcre",
  list: "list",
  grain: "grain",
  grain_pcre: "grain_pcre",
  nodegroup: "nodegroup",
  range: "range",
  compound: "compound",
  pillar_target: "pillar",
  pillar_pcre: "pillar_pcre",
  ipcidr: "ipcidr",
} as const satisfies Readonly<Record<TargetOption, string>>;

/** An option that says how the target is meant. */
export type TargetOption = Exclude<keyof typeof TARGET_CLI_OPTIONS, "delimiter">;

/**
 * How the target is meant.
 * @throws {UsageError} For more than one option, and for `--hosts`.
 */
export function targetType(options: Readonly<Partial<Record<TargetOption, boolean>>>): string {
  const names = (Object.keys(TARGET_TYPES) as TargetOption[]).filter((name) => options[name]);
  if (names.length > 1) {
    const flags = names.map((name) => TARGET_CLI_OPTIONS[name].flags.at(-1)).join("/");
    throw new UsageError(`The options ${flags} are mutually exclusive. Please only choose one of them`);
  }
  if (options.list_hosts) throw new UsageError("-H/--hosts: there are no rosters without salt-ssh, which is not built");
  return names.length === 0 ? "glob" : TARGET_TYPES[names[0]];
}
