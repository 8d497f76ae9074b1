/**
 * The argument `retry` of a state.
 * Source: Salt 3008.3, `State.verify_retry_data` of `salt/state.py`.
 * @module
 */

import { isInt, isMap, repr, str, type Value } from "#lib/values/value.ts";

/** The retries of a state until its result is as wanted. */
export interface Retry {
  /** How many calls at most. */
  readonly attempts: number;
  /** The result that is wanted. */
  readonly until: boolean;
  /** Seconds between two calls. */
  readonly interval: number;
  /** Maximum of the random seconds that are added. */
  readonly splay: number;
}

const DEFAULTS: Retry = { until: true, attempts: 2, splay: 0, interval: 30 };

/** Parses `retry:`; a value of a wrong type is replaced by the default, with a call of `warn`. */
export function retryOf(given: Value, warn: (text: string) => void): Retry {
  if (given === false) return { ...DEFAULTS, attempts: 0 };
  if (given === true) return DEFAULTS;
  if (!isMap(given)) {
    warn(
      "State is set to retry, but retry: True or a valid dict for retry configuration was not found. Using retry defaults",
    );
    return DEFAULTS;
  }
  const fallbackOf = (name: keyof Retry) => {
    warn(`An invalid value was passed for the retry ${name}, using default value '${str(DEFAULTS[name])}'`);
    return DEFAULTS[name];
  };
  const whole = (name: "attempts" | "interval" | "splay"): number => {
    const value = given.get(name);
    if (value === undefined) return DEFAULTS[name];
    return typeof value === "boolean" || isInt(value) ? Number(value) : Number(fallbackOf(name));
  };
  const until = given.get("until");
  return {
    attempts: whole("attempts"),
    interval: whole("interval"),
    splay: whole("splay"),
    until: until === undefined ? DEFAULTS.until : typeof until === "boolean" ? until : fallbackOf("until") === true,
  };
}

/** Seconds until the next call. */
export function pauseOf({ interval, splay }: Retry): number {
  return interval + (splay > 0 ? Math.floor(Math.random() * (splay + 1)) : 0);
}

/** The comment of a call that is not the last one. */
export function attemptText(attempt: number, result: Value, comment: Value): string {
  return `Attempt ${attempt}: Returned a result of "${repr(result)}", with the following comment: "${str(comment)}"`;
}

/** The text that is added to the comment in test mode, which has no retries. */
export function wouldRetryText({ attempts, until, interval, splay }: Retry): string {
  return `The state would be retried every ${interval} seconds (with a splay of up to ${splay} seconds) a maximum of ` +
    `${attempts} times or until a result of ${repr(until)} is returned`;
}
