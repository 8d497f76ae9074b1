/**
 * Spans of the states that a function has run, made of its result: each state names when it began and how long it took.
 * The thread that runs states exports nothing.
 * @module
 */

import { isMap, str, toNumber, type Value } from "#lib/values/value.ts";
import type { TraceContext } from "./trace_context.ts";
import type { Tracer } from "./tracer.ts";

/** Half a day: a state that seems to have begun so long before the run began after midnight. */
const HALF_DAY_MS = 43_200_000;

/**
 * Makes a span for each state of a result.
 * @param returned The result of `state.apply` or its like; anything else has no states.
 * @param run The span of the function, and when it began, in milliseconds since the epoch.
 */
export function traceStates(
  returned: Value,
  run: { readonly parent: TraceContext; readonly startMs: number },
  tracer: Pick<Tracer, "start">,
): void {
  if (!isMap(returned)) return;
  for (const [key, state] of returned) {
    const parts = str(key).split("_|-");
    if (!isMap(state) || parts.length !== 4) continue;
    const [kind, id, , fun] = parts;
    const startMs = beginOf(state.get("start_time") ?? null, run.startMs);
    const span = tracer.start(`state: ${id} | ${kind}.${fun}`, {
      parent: run.parent,
      startMs,
      attributes: { "salt.state.id": id, "salt.state.name": str(state.get("name") ?? "") },
    });
    span.end({
      endMs: startMs + (toNumber(state.get("duration")) ?? 0),
      ...state.get("result") === false && { error: str(state.get("comment") ?? "") },
    });
  }
}

/** Results have the local time of the day, `12:34:56.789012`. */
function beginOf(time: Value, runMs: number): number {
  const match = /^(\d\d):(\d\d):(\d\d)\.(\d{6})$/.exec(str(time));
  if (match === null) return runMs;
  const [hours, minutes, seconds, micros] = match.slice(1).map(Number);
  const day = new Date(runMs);
  const beginMs = day.setHours(hours, minutes, seconds, 0) + micros / 1_000;
  return beginMs < runMs - HALF_DAY_MS ? beginMs + 2 * HALF_DAY_MS : beginMs;
}
