/**
 * Makes the job of a command line of `salt`: the target, the functions, and their arguments. Prints and sends nothing.
 * Source: Salt's `salt/utils/parsers.py` (`SaltCMDOptionParser`).
 * @module
 */

import { toWireArgs, yamlifyArg } from "#lib/yaml/arguments.ts";
import type { Parsed } from "#lib/commands/cli/command_line.ts";
import { functionArguments } from "#lib/commands/cli/function_arguments.ts";
import { UsageError } from "#lib/errors.ts";
import type { JobRequest } from "#lib/client/job.ts";
import type { SaltTable, SaltValues } from "./salt_options.ts";
import { targetType } from "./target_type.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** The job, or why the command line is incomplete. */
export type ParsedJob = { readonly job: JobRequest } | { readonly incomplete: string };

/**
 * The job of a command line.
 * @throws {UsageError} For target options that exclude each other.
 */
export function jobOfCommandLine(parsed: Parsed<SaltTable>): ParsedJob {
  const { options } = parsed;
  const [target, fun, ...words] = withDoc(parsed);
  const tgtType = targetType(parsed.options);
  checkNoLog(options);
  if (target === undefined) return { incomplete: "Cannot execute command without defining a target." };
  const tgt: Value = tgtType === "list" ? listTarget(target) : target;
  const same = { tgt, tgtType, ret: options.return ?? "", kwargs: publishKwargs(parsed) };
  // Nothing will be run, so the function does not matter.
  if (options.preview_target) return { job: { ...same, fun: fun ?? "", arg: [] } };
  if (fun === undefined) return { incomplete: "Incomplete options passed: a function is missing." };
  const read = (own: readonly string[]): Value[] => {
    const { args, kwargs } = functionArguments(own, options);
    return toWireArgs(args, kwargs);
  };
  if (!fun.includes(",")) return { job: { ...same, fun, arg: read(words) } };
  const funs = fun.split(",");
  const split = splitArguments(words, { count: funs.length, separator: options.args_separator });
  if (typeof split === "string") return { incomplete: split };
  return { job: { ...same, fun: funs, arg: split.map(read) } };
}

/** @throws {UsageError} If a `--no-log` job is also to be stored or shown elsewhere. */
function checkNoLog({ no_log, live, return: returner }: SaltValues): void {
  if (no_log && live) {
    throw new UsageError(
      "--no-log cannot go with --live: the master stores what commands write, and publishes it on the event bus",
    );
  }
  if (no_log && returner !== null) {
    throw new UsageError("--no-log cannot go with --return: a returner stores the results");
  }
}

/** The positional words; with `--doc`, those of a call of `sys.doc`. */
function withDoc({ options, args }: Parsed<SaltTable>): string[] {
  const words = [...args];
  if (!options.doc) return words;
  if (words.length === 0) words.push("*");
  if (words[1] !== "sys.doc") words.splice(1, 0, "sys.doc");
  if (words.length > 3) throw new UsageError("You can only get documentation for one method at one time.");
  return words;
}

/** The ids of a list target as typed: separated by commas, else by blanks. */
export function listTarget(target: string): string[] {
  const ids = target.includes(",") ? target.replaceAll(" ", "").split(",") : target.split(/\s+/);
  return ids.filter((id) => id !== "");
}

/** Splits the words into those of each of `count` functions; or returns an error. */
function splitArguments(words: readonly string[], how: { count: number; separator: string }): string[][] | string {
  const { count, separator } = how;
  const groups: string[][] = [[]];
  if (words.filter((word) => word === separator).length === count - 1) {
    for (const word of words) {
      if (word === separator) groups.push([]);
      else groups[groups.length - 1].push(word);
    }
    return groups;
  }
  // The older form: the separator may be within a word or at its end.
  for (const word of words) {
    for (const [i, part] of (separator === "" ? [word] : word.split(separator)).entries()) {
      if (i > 0) groups.push([]);
      if (part !== "") groups[groups.length - 1].push(part);
    }
  }
  if (groups.length < count) return "Cannot execute compound command without defining all arguments.";
  if (groups.length > count) return "Cannot execute compound command with more arguments than commands.";
  return groups;
}

/** Fields for the master and the minions besides the job itself. */
function publishKwargs({ options }: Parsed<SaltTable>): ValueMap {
  const kwargs: ValueMap = new Map<Value, Value>([
    ["show_timeout", !options.hide_timeout],
    ["show_jid", options.show_jid],
    ["delimiter", options.delimiter],
  ]);
  const given: readonly (readonly [name: string, typed: string | null, yaml: boolean])[] = [
    ["ret_config", options.return_config, false],
    ["ret_kwargs", options.return_kwargs, true],
    ["module_executors", options.module_executors, true],
    ["executor_opts", options.executor_opts, true],
    ["metadata", options.metadata, true],
  ];
  for (const [name, typed, yaml] of given) {
    if (typed !== null && typed !== "") kwargs.set(name, yaml ? yamlifyArg(typed) : typed);
  }
  if (options.live) kwargs.set("live", true);
  if (options.start_event) kwargs.set("start_event", true);
  return kwargs;
}
