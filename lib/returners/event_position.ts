/**
 * How far a returner has come in the master's event log: a file for each, which its thread writes, and which
 * `returners.status` reads.
 * @module
 */

import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, toNumber, type ValueMap } from "#lib/values/value.ts";

/** The position of one returner. */
export interface EventPosition {
  /** The id of the log. */
  readonly log: string;
  /** The number of the last event that it is done with; -1: none. */
  readonly number: number;
  /** Events that it has taken since the file exists. */
  readonly stored: number;
  /** Events that it could not take, or that were gone when it came to them. */
  readonly dropped: number;
  /** Its last error since it took an event; empty: none. */
  readonly error: string;
}

/** The option that gives events to a returner, and what a name of its file begins with. */
export type EventOption = "event_return" | "master_return" | "master_job_cache" | "ext_job_cache";

function positionPath(directory: string, option: EventOption, name: string): string {
  return `${directory}/${option}-${name}.json`;
}

/** Reads the position of a returner; `undefined` if there is none. */
export function readPosition(directory: string, option: EventOption, name: string): EventPosition | undefined {
  const text = readTextFileIfExists(positionPath(directory, option, name));
  // A power failure may leave an empty file.
  const value = text === undefined || text === "" ? undefined : parseJson(text);
  if (!isMap(value)) return undefined;
  const number = (field: string, otherwise: number) => toNumber(value.get(field) ?? null) ?? otherwise;
  return {
    log: str(value.get("log") ?? ""),
    number: number("number", -1),
    stored: number("stored", 0),
    dropped: number("dropped", 0),
    error: str(value.get("error") ?? ""),
  };
}

/** Replaces the file of a returner in one step; only its user reads it. */
export function writePosition(directory: string, option: EventOption, name: string, position: EventPosition): void {
  const value: ValueMap = map({ ...position });
  writeFileAtomic(positionPath(directory, option, name), dumpJson(value), { mode: 0o600 });
}
