/**
 * The reactor's report about itself: a file that it writes at most once a second, for `reactor.status`.
 * @module
 */

import { readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { mistakeText } from "./rendering.ts";
import type { ReactorMistake } from "./reactor_map.ts";

/** Number of errors that are kept. */
const MAX_ERRORS = 50;

function statusPath(directory: string): string {
  return `${directory}/status.json`;
}

/** The counters of a reactor since its start. */
export interface ReactorCounts {
  /** Events that it has read. */
  events: number;
  /** Events that files react to. */
  matched: number;
  /** Reactions that it has started, by kind. */
  local: number;
  runner: number;
  wheel: number;
  caller: number;
  /** Reactions that failed: they could not be started. */
  failed: number;
  /** Events that it could not read, as they were not in the event log any more. */
  missed: number;
  /** Events that started nothing because of `reactor_limits`. */
  limited: number;
  /** Events that started nothing because they would have continued a loop. */
  loops: number;
}

/** What an operator is told. */
export class ReactorStatus {
  /** The counters. */
  readonly counts: ReactorCounts = {
    events: 0,
    matched: 0,
    local: 0,
    runner: 0,
    wheel: 0,
    caller: 0,
    failed: 0,
    missed: 0,
    limited: 0,
    loops: 0,
  };
  readonly #errors: ValueMap[] = [];
  readonly #startedMs = Date.now();

  /** Keeps an error. */
  failed(tag: string, mistake: ReactorMistake): void {
    this.#errors.push(map({
      time: new Date().toISOString(),
      tag,
      file: mistake.file,
      line: mistake.line ?? null,
      error: mistakeText(mistake),
    }));
    if (this.#errors.length > MAX_ERRORS) this.#errors.shift();
  }

  /** The report. */
  value(more: Readonly<Record<string, Value>>): ValueMap {
    const { missed, limited, loops, failed, events, matched, ...started } = this.counts;
    return map({
      ...more,
      started: new Date(this.#startedMs).toISOString(),
      events,
      matched,
      reactions: map(started),
      failed,
      dropped: map({ missed, limited, loops }),
      errors: [...this.#errors].reverse(),
    });
  }
}

/** Writes a report. */
export function writeStatus(directory: string, status: ValueMap): void {
  writeFileAtomic(statusPath(directory), dumpJson(status), { mode: 0o600 });
}

/** Removes the report: the reactor has ended. */
export function removeStatus(directory: string): void {
  removeIfExists(statusPath(directory));
}

/** The last report; `undefined` if there is none. */
export function readStatus(directory: string): ValueMap | undefined {
  const text = readTextFileIfExists(statusPath(directory));
  const status = text === undefined || text === "" ? undefined : parseJson(text);
  return isMap(status) ? status : undefined;
}
