/**
 * When a state began and how long it took, in the form that returns have.
 * Source: Salt 3008.3, `State.call`, `_calculate_fake_duration` of `salt/state.py`.
 * @module
 */

import { float, type Value } from "#lib/values/value.ts";

/** What a return says of a state's time. */
export interface Timing {
  /** Local time of day, `09:05:01.000123`. */
  readonly start_time: string;
  /** Milliseconds, to the microsecond. */
  readonly duration: Value;
}

/**
 * Begins to measure.
 * @returns Ends it.
 */
export function startClock(): () => Timing {
  const begun = performance.now();
  const microseconds = Math.floor((performance.timeOrigin + begun) * 1000);
  return () => ({
    start_time: timeOfDay(microseconds),
    duration: float(Math.floor((performance.now() - begun) * 1000) / 1000),
  });
}

/** Python's `time.isoformat()`, which leaves out microseconds that are zero. */
function timeOfDay(microseconds: number): string {
  const date = new Date(microseconds / 1000);
  const two = (n: number) => n < 10 ? `0${n}` : `${n}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const rest = microseconds % 1_000_000;
  return rest === 0 ? time : `${time}.${`${rest}`.padStart(6, "0")}`;
}
