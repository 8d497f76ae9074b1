/**
 * The fields of a return and of a load that returners with tables store. Source: the returners of Salt 3008.3.
 * @module
 */

import { dumpJson } from "#lib/values/json.ts";
import { JsonError } from "#lib/errors.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** JSON as Salt's returners write it: in one line, letters beyond ASCII as they are. */
export function returnerJson(value: Value): string {
  return dumpJson(value, { ensureAscii: false });
}

/** Reads JSON of a table; a value that is none is returned as its text. */
export function readReturnerJson(stored: string): Value {
  try {
    return parseJson(stored);
  } catch (error) {
    if (error instanceof JsonError) return stored;
    throw error;
  }
}

/** A return as the columns of a table. */
export interface ReturnRow {
  readonly jid: string;
  readonly id: string;
  /** The name of the function; of several, with commas between them. */
  readonly fun: string;
  readonly success: boolean;
  /** What the function returned, as JSON. */
  readonly returned: string;
  /** The whole return, as JSON. */
  readonly full: string;
}

/** Reads a return. */
export function returnRow(ret: ValueMap): ReturnRow {
  const text = (key: string) => str(ret.get(key) ?? "");
  const fun = ret.get("fun") ?? "";
  return {
    jid: text("jid"),
    id: text("id"),
    fun: Array.isArray(fun) ? fun.map(str).join(",") : str(fun),
    success: truthy(ret.get("success")),
    returned: returnerJson(ret.get("return") ?? null),
    full: returnerJson(ret),
  };
}

/** One event for `event_return`. */
export interface ReturnedEvent {
  readonly tag: string;
  readonly data: Value;
}

/** Reads the argument of `event_return`. */
export function returnedEvents(events: readonly Value[]): ReturnedEvent[] {
  return events.flatMap((event) => {
    if (!isMap(event)) return [];
    return [{ tag: str(event.get("tag") ?? ""), data: event.get("data") ?? null }];
  });
}
