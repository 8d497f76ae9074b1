/**
 * What Python Salt returned for calls of states, made comparable with what ours return.
 * @module
 */

import { compareStrings, isMap, str, type Value } from "#lib/values/value.ts";

/** Maps with their keys sorted: Python's order of fields has no meaning. */
function sorted(value: Value): Value {
  if (!isMap(value)) return Array.isArray(value) ? value.map(sorted) : value;
  return new Map(
    [...value].sort(([a], [b]) => compareStrings(str(a), str(b))).map(([key, item]) => [key, sorted(item)]),
  );
}

/** The names of failed requisites come in the order of Python's hashes. */
function named(value: Value): Value {
  if (!isMap(value)) return value;
  return new Map([...value].map(([key, item]) => {
    const [start, names] = typeof item === "string" ? item.split("requisite failed: ") : [];
    return [key, names === undefined ? named(item) : `${start}${names.split(", ").sort().join(", ")}`];
  }));
}

/** Errors of rendering without the lines of the file that they quote: some of the recorded ones were cut there. */
export function withoutExcerpts(returned: Value): Value {
  if (!Array.isArray(returned)) return returned;
  return returned.map((error) =>
    typeof error === "string" ? error.replace(/(; line \d+)\n\n---\n[^]*\n---$/, (_all, line: string) => line) : error
  );
}

/** Returns without what has no meaning in them. */
export function comparable(returned: Value): Value {
  return sorted(named(returned));
}

/** A return in which the reason why there are no states is in the master's log, as a minion with a master has it. */
export function asMaster(returned: Value): Value {
  const comment = isMap(returned) ? returned.get("no_|-states_|-states_|-None") : undefined;
  if (!isMap(comment)) return returned;
  const text = str(comment.get("comment") ?? "");
  comment.set("comment", text.replace(/(matches found\.) .*[^]*/, "$1 Please see master log for details."));
  return returned;
}
