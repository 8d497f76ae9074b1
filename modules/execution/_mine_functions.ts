/**
 * `mine_functions`: which functions fill the mine, under which names, and who may read the results. Source: Salt 3008.3
 * `salt/utils/mine.py`.
 * @module
 */

import { masterOpts } from "#lib/config/option_sources.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { asList } from "#lib/values/shape.ts";
import { isMap, map, repr, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** One entry of `mine_functions`. */
export interface MineFunction {
  /** The name in the mine. */
  readonly name: string;
  /** The function, if it has another name: `mine_function`. */
  readonly alias?: string;
  readonly args: Value[];
  readonly kwargs: ValueMap;
  readonly readers: MineTarget;
}

/** Who may read a value. */
export interface MineTarget {
  /** The minions of this target; None: everybody. */
  readonly allow_tgt: Value;
  /** How the master reads it; None: as a glob. */
  readonly allow_tgt_type: Value;
}

/** The keys of a definition that are no arguments. */
const OWN = ["mine_function", "allow_tgt", "allow_tgt_type"];

/** The entries of the minion's options, of the master's options in pillar, and of pillar; of a name the first wins. */
export function configuredFunctions({ opts, pillar, log }: JobContext): ValueMap {
  const sources: [string, Value | undefined][] = [
    ["the configuration", opts.mine_functions],
    ["the master's options in pillar", masterOpts(pillar).get("mine_functions")],
    ["pillar", pillar.get("mine_functions")],
  ];
  const merged: ValueMap = new Map();
  for (const [source, functions] of sources) {
    if (functions === undefined || functions === null) continue;
    if (!isMap(functions)) {
      log("error", `mine_functions of ${source} has no effect: it is ${typeName(functions)}, not a map`);
      continue;
    }
    for (const [name, definition] of functions) if (!merged.has(name)) merged.set(name, definition);
  }
  return merged;
}

/**
 * Reads one entry: a list of positional arguments and maps of keyword arguments, or one map of them.
 * @returns A text that says what is wrong with it.
 */
export function readDefinition(name: Value, definition: Value): MineFunction | string {
  if (typeof name !== "string") return `its name is ${typeName(name)}, not a text`;
  const args: Value[] = [];
  const given: ValueMap = new Map();
  for (const item of asList(definition)) {
    if (isMap(item)) { for (const [key, value] of item) given.set(key, value); }
    else if (Array.isArray(definition)) args.push(item);
  }
  const alias = given.get("mine_function") ?? null;
  if (alias !== null && typeof alias !== "string") return `mine_function is ${typeName(alias)}, not a text`;
  const readers = readReaders(given);
  if (typeof readers === "string") return readers;
  const kwargs = new Map([...given].filter(([key]) => !OWN.includes(str(key))));
  return { name, ...alias !== null && alias !== "" && { alias }, args, kwargs, readers };
}

/** @returns A text that says what is wrong with it. */
function readReaders(given: ValueMap): MineTarget | string {
  const [tgt, type] = ["allow_tgt", "allow_tgt_type"].map((key) => given.get(key) ?? null);
  const isTarget = typeof tgt === "string" || (Array.isArray(tgt) && tgt.every((each) => typeof each === "string"));
  if (truthy(tgt) && !isTarget) return `nobody could read it: allow_tgt is ${repr(tgt)}, not a target`;
  if (truthy(type) && typeof type !== "string") {
    return `nobody could read it: allow_tgt_type is ${repr(type)}, not the name of a target type`;
  }
  return { allow_tgt: truthy(tgt) ? tgt : null, allow_tgt_type: truthy(type) ? type : null };
}

/** An entry as `mine.valid` shows it. */
export function shownDefinition({ alias, args, kwargs }: MineFunction, definition: Value): Value {
  if (alias !== undefined) {
    return map({ [alias]: [...args, ...[...kwargs].map(([key, value]) => new Map([[key, value]]))] });
  }
  return isMap(definition) ? kwargs : definition;
}
