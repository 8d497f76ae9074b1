/**
 * The target type that the options of a command line select.
 * Source: Salt's utils/parsers.py (`TargetOptionsMixIn`).
 * @module
 */

import { TARGET_CLI_OPTIONS } from "../cli/common_options.ts";
import { UsageError } from "../errors.ts";
import { isTargetType, type TargetType } from "../fleet/target.ts";

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

/** An option that selects the target type. */
export type TargetOption = Exclude<keyof typeof TARGET_CLI_OPTIONS, "delimiter">;

/**
 * The target type.
 * @throws {UsageError} For more than one option, for `--hosts`, and for a type that is not implemented: no minion is
 * asked then.
 */
export function targetType(options: Readonly<Partial<Record<TargetOption, boolean>>>): TargetType {
  const names = (Object.keys(TARGET_TYPES) as TargetOption[]).filter((name) => options[name]);
  if (names.length > 1) {
    const flags = names.map((name) => TARGET_CLI_OPTIONS[name].flags.at(-1)).join("/");
    throw new UsageError(`The options ${flags} are mutually exclusive. Please only choose one of them`);
  }
  if (options.list_hosts) throw new UsageError("-H/--hosts: there are no rosters without salt-ssh, which is not built");
  if (names.length === 0) return "glob";
  const type = TARGET_TYPES[names[0]];
  if (isTargetType(type)) return type;
  const flags = TARGET_CLI_OPTIONS[names[0]].flags.join("/");
  throw new UsageError(`${flags}: such targets are not built yet. Name minions by glob, by -E/--pcre, or by -L/--list`);
}
