/**
 * `peer` and `peer_run`: the functions that minions may run on other minions, and on the master.
 * Source: Salt 3008.3 `salt/master.py` (`__verify_minion_publish`), `salt/daemons/masterapi.py` (`minion_runner`).
 * @module
 */

import { splitWhitespace } from "#lib/text/split_lines.ts";
import { type CallArgs, parseCliArgs, toWireArgs } from "#lib/yaml/arguments.ts";
import { matchesRule } from "./patterns.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * The rules for the minion `id`.
 * @param option `peer` or `peer_run`: lists of rules by expression; the expression matches the whole id.
 */
export function peerRules(option: ValueMap, id: string): Value[] {
  return [...option].flatMap(([pattern, rules]) =>
    typeof pattern === "string" && Array.isArray(rules) && matchesRule(pattern, id) ? rules : []
  );
}

/** The publish that a minion requests. */
export interface PeerJob {
  /** A function, or the list of a compound job's. */
  readonly fun: Value;
  /** The arguments as minions get them. */
  readonly arg: Value[];
}

/**
 * Reads `fun` and `arg`: texts are parsed as on a command line; `a.b,c.d` is a compound job, whose arguments are texts.
 */
export function peerJob(fun: string, arg: readonly Value[], noParse: readonly string[]): PeerJob {
  if (!fun.includes(",")) return { fun, arg: parsedArguments(arg, noParse) };
  const funs = fun.split(",");
  const lists = funs.map((_, i) => {
    const text = arg[i];
    return typeof text === "string" ? parsedArguments(splitWhitespace(text), noParse) : [];
  });
  return { fun: funs, arg: lists };
}

function parsedArguments(arg: readonly Value[], noParse: readonly string[]): Value[] {
  const { args, kwargs } = peerArguments(arg, noParse);
  return toWireArgs(args, kwargs);
}

/** The arguments that a minion sends: texts are parsed as on a command line. */
export function peerArguments(arg: readonly Value[], noParse: readonly string[]): CallArgs {
  const kwargs: ValueMap = new Map();
  const args: Value[] = [];
  for (const item of arg) {
    if (typeof item !== "string") {
      args.push(item);
      continue;
    }
    const parsed = parseCliArgs([item], { noParse });
    args.push(...parsed.args);
    for (const [name, value] of parsed.kwargs) kwargs.set(name, value);
  }
  return { args, kwargs };
}

/** Whether `peer_run` lets the minion `id` run the runner `fun`. */
export function mayRun(option: ValueMap, id: string, fun: string): boolean {
  return peerRules(option, id).some((rule) => typeof rule === "string" && matchesRule(rule, fun));
}

/** Whether minions may not publish it, whatever the rules allow: the function that it runs would publish again. */
export function publishesAgain({ fun }: PeerJob): boolean {
  return [fun].flat().some((name) => typeof name === "string" && name.trim().startsWith("publish."));
}
