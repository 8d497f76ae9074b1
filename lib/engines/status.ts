/**
 * What is known of the engines of a master or minion: a file that it writes when something changes, for
 * `engines.status`.
 * @module
 */

import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** What an engine does: it runs, or waits for its next start. */
export type EngineState = "running" | "waiting";

/** The report about one engine. */
export interface EngineReport {
  readonly module: string;
  readonly state: EngineState;
  /** The id of its process; `null` while it waits. */
  readonly pid: number | null;
  /** When that state began, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** How often it was started. */
  readonly starts: number;
  /** Why it ended the last time; `null` if it never did. */
  readonly error: string | null;
}

/** The directory of the file. */
export function enginesDirectory(cachedir: string): string {
  return `${cachedir}/engines`;
}

function statusPath(directory: string): string {
  return `${directory}/status.json`;
}

/**
 * Writes the report.
 * @param pid The process that keeps the engines.
 * @param mistakes What is wrong with the option `engines`.
 */
export function writeEngineStatus(
  directory: string,
  { pid, reports, mistakes }: {
    readonly pid: number;
    readonly reports: ReadonlyMap<string, EngineReport>;
    readonly mistakes: readonly string[];
  },
): void {
  const engines: ValueMap = new Map([...reports].map(([name, report]): [string, Value] => [
    name,
    map({
      module: report.module,
      state: report.state,
      pid: report.pid,
      since: new Date(report.sinceMs).toISOString(),
      starts: report.starts,
      error: report.error,
    }),
  ]));
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileAtomic(statusPath(directory), dumpJson(map({ pid, engines, mistakes: [...mistakes] })), { mode: 0o600 });
}

/** Removes the report: the engines have ended. */
export function removeEngineStatus(directory: string): void {
  removeIfExists(statusPath(directory));
}

/** The last report: `pid`, `engines` by name, and `mistakes`; `undefined` if there is none. */
export function readEngineStatus(directory: string): ValueMap | undefined {
  const text = readTextFileIfExists(statusPath(directory));
  const status = text === undefined || text === "" ? undefined : parseJson(text);
  return isMap(status) ? status : undefined;
}
