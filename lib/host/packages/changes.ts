/**
 * The changes by a package manager: the difference between two lists of packages, and the failure with these changes.
 * Source: Salt 3008.3, `salt/utils/data.py` compare_dicts, `salt/exceptions.py` CommandExecutionError.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { formatNested } from "#lib/output/nested.ts";
import { equals, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** For each name that differs, a map of its `old` and its `new` value; a missing value is an empty text. */
export function changesBetween(before: ValueMap, after: ValueMap): ValueMap {
  const changes: ValueMap = new Map();
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(name) ?? "", after.get(name) ?? ""];
    if (!equals(old, now)) changes.set(name, map({ old, new: now }));
  }
  return changes;
}

/** The error of a failed change, with its details: `errors`, `changes`, `result`. */
export function changeFailure(message: string, info: Readonly<Record<string, Value>>): CommandError {
  const describe = (known: ValueMap) => {
    const text = formatNested(known, { color: false }).trimEnd();
    return `${/[.?!]$/.test(message) ? message : `${message}.`} Additional info follows:\n\n${text}`;
  };
  const { changes, ...more } = info;
  const withoutChanges = Object.keys(more).length === 0 ? message : describe(map(more));
  return new CommandError(describe(map(info)), { info: { changes, message: withoutChanges } });
}

/** A change of packages. */
export interface Change {
  /** Lists the packages, before and after. */
  list(): Promise<ValueMap>;
  /**
   * Changes them.
   * @returns Error texts.
   */
  run(before: ValueMap): Promise<readonly string[]>;
  /** The message of a failure: `Problem encountered installing package(s)`. */
  readonly failure: string;
}

/**
 * Changes packages.
 * @returns The changes.
 * @throws {CommandError} With the changes that were made.
 */
export async function changePackages({ list, run, failure }: Change): Promise<ValueMap> {
  const before = await list();
  const errors = await run(before);
  const changes = changesBetween(before, await list());
  if (errors.length === 0) return changes;
  throw changeFailure(failure, { errors: [...errors], changes });
}
