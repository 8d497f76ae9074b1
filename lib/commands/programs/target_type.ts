/**
 * The target type that the options of a command line select.
 * Source: Salt's `salt/utils/parsers.py` (`TargetOptionsMixIn`).
 * @module
 */

import { TARGET_CLI_OPTIONS } from "#lib/commands/cli/common_options.ts";
import { UsageError } from "#lib/errors.ts";
import type { TargetType } from "#lib/targeting/target.ts";

/** Salt's names of the target types, by option. */
const TARGET_TYPES = {
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
} as const satisfies Readonly<Record<Exclude<TargetOption, "list_hosts">, TargetType>>;

/** An option that selects the target type. */
export type TargetOption = Exclude<keyof typeof TARGET_CLI_OPTIONS, "delimiter">;

/**
 * The target type.
 * @throws {UsageError} For more than one option, and for `--hosts`.
 */
export function targetType(options: Readonly<Partial<Record<TargetOption, boolean>>>): TargetType {
  const names = (["list_hosts", ...Object.keys(TARGET_TYPES)] as TargetOption[]).filter((name) => options[name]);
  if (names.length > 1) {
    const flags = names.map((name) => TARGET_CLI_OPTIONS[name].flags.at(-1)).join("/");
    throw new UsageError(`The options ${flags} are mutually exclusive. Please only choose one of them`);
  }
  const [name] = names;
  if (name === undefined) return "glob";
  if (name === "list_hosts") {
    throw new UsageError("-H/--hosts: rosters belong to salt-ssh");
  }
  return TARGET_TYPES[name];
}
