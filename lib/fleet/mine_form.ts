/**
 * The forms of stored values and of answers of the mine, which master and minion share. Source: Salt 3008.3
 * `salt/utils/mine.py`.
 * @module
 */

import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** The key of an answer that has values of known age under `ret`. A master that does not send it knows no ages. */
export const AGED = "__mine_aged__";

/** The keys of a value that not everybody may read: that it is one, and the value. */
const RESTRICTED = "__saltmine_acl__", DATA = "__data__";

/** A value that only the minions of a target may read, as it is stored. */
export function restricted(value: Value, tgt: Value, tgtType: Value): ValueMap {
  const entries: [Value, Value][] = [[DATA, value], [RESTRICTED, 1], ["allow_tgt", tgt]];
  return new Map(tgtType === null || tgtType === "" ? entries : [...entries, ["allow_tgt_type", tgtType]]);
}

/** Whether a stored value is one of {@linkcode restricted}. */
export function isRestricted(stored: Value): stored is ValueMap {
  return isMap(stored) && stored.has(RESTRICTED);
}

/** The value within a stored one; `undefined` if it lacks it. */
export function valueOf(stored: Value): Value | undefined {
  return isRestricted(stored) ? stored.get(DATA) : stored;
}

/** What a query's `fun` asks for. */
export interface AskedValues {
  /** Each once. */
  readonly names: readonly Value[];
  /** Whether the answer is by name, then by minion: if it was a list, or several names. */
  readonly isByName: boolean;
}

/** Reads `fun`: a text with commas between names, or a list of them. */
export function askedValues(fun: string | readonly Value[]): AskedValues {
  const names = [...new Set<Value>(typeof fun === "string" ? fun.split(",") : fun)];
  return { names, isByName: typeof fun !== "string" || names.length > 1 };
}
