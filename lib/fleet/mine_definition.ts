/**
 * One entry of `mine_functions`: which function fills the mine, under which name, and who may read the result. Source:
 * Salt 3008.3 `salt/utils/mine.py`.
 * @module
 */

import { asList } from "#lib/values/shape.ts";
import { isMap, repr, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

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
