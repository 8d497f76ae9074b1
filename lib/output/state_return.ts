/**
 * Reads the return of a state run: a map from `<state>_|-<id>_|-<name>_|-<function>` to the result of that state.
 * Checks the form once, for the outputters that show it. Formats nothing. Source: Salt's
 * `salt/state.py` (State.call, format_log).
 * @module
 */

import { compare, isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** The separator of the parts of a state's name. */
export const SEPARATOR = "_|-";

/** One state of a run. */
export interface ReturnedState {
  /** The module, the ID, the name and the function. */
  readonly comps: readonly [state: string, id: string, name: string, fun: string];
  /** True, False; None for a change that a test run predicts. */
  readonly result: Value;
  readonly comment: Value;
  /** The changes; none if it is empty in Python's sense. */
  readonly changes: Value;
  /** As returned by the minion; `undefined` without times. */
  readonly startTime: Value | undefined;
  /** Milliseconds, as returned by the minion; the empty string without times. */
  readonly duration: Value;
  readonly warnings: readonly string[] | undefined;
  /** Added to the comment. */
  readonly data: Value | undefined;
  /** Whether it ran in parallel with others. */
  readonly parallel: boolean;
  /** All fields, for a layout of the operator's. */
  readonly fields: ValueMap;
}

/** A run's states in the order in which they ran, and parts of the return that have no order. */
export interface ReturnedRun {
  readonly states: readonly ReturnedState[];
  readonly unordered: readonly ValueMap[];
  /** The name of the plan that was made of the run. */
  readonly plan?: string;
}

/** The key of a plan's name among the results of its states. */
export const PLAN_KEY = "plan";

/** What `state.last_run` returns: a run, and how it ended. */
export interface PastRun {
  readonly results: ValueMap;
  readonly jid: string;
  readonly fun: string;
  readonly begun: string;
  /** `finished`, `stopped`, `aborted`, `interrupted` or `running`. */
  readonly outcome: string;
  /** The tags of states that had begun. */
  readonly unfinished: readonly string[];
}

/**
 * Reads the return of `state.last_run`.
 * @returns `undefined` if it is another one.
 */
export function readPastRun(data: ValueMap): PastRun | undefined {
  const [results, unfinished] = [data.get("states"), data.get("unfinished")];
  const [jid, fun, begun, outcome] = ["jid", "fun", "begun", "outcome"].map((key) => data.get(key));
  if (!isMap(results) || !Array.isArray(unfinished)) return undefined;
  if (typeof jid !== "string" || typeof fun !== "string") return undefined;
  if (typeof begun !== "string" || typeof outcome !== "string") return undefined;
  return { results, jid, fun, begun, outcome, unfinished: unfinished.map(str) };
}

/**
 * Reads a minion's return.
 * @returns `undefined` if it is not that of a state run.
 */
export function readStateRun(data: ValueMap): ReturnedRun | undefined {
  const unordered: ValueMap[] = [];
  const states: { order: Value; state: ReturnedState }[] = [];
  for (const [tag, info] of data) {
    if (!isMap(info)) continue;
    if (tag !== "changes" && info.size > 0 && !info.has("__run_num__")) unordered.push(info);
    if (!info.has("result")) continue;
    const state = readState(tag, info);
    if (state === undefined) return undefined;
    states.push({ order: info.get("__run_num__") ?? 0, state });
  }
  states.sort((a, b) => compare(a.order, b.order));
  const plan = data.get(PLAN_KEY);
  return { states: states.map(({ state }) => state), unordered, ...typeof plan === "string" && { plan } };
}

function readState(tag: Value, fields: ValueMap): ReturnedState | undefined {
  const [state, id, name, fun] = typeof tag === "string" ? tag.split(SEPARATOR) : [];
  const changes = fields.get("changes");
  const duration = fields.get("duration") ?? (fields.has("duration") ? null : "");
  if (fun === undefined || changes === undefined) return undefined;
  if (typeof duration !== "string" && toNumber(duration) === undefined) return undefined;
  const given = fields.get("warnings");
  const warnings = typeof given === "string" ? [given] : given;
  if (warnings !== undefined && !Array.isArray(warnings)) return undefined;
  return {
    comps: [state, id, name, fun],
    result: fields.get("result") ?? null,
    comment: fields.get("comment") ?? "",
    changes,
    startTime: fields.get("start_time"),
    duration,
    warnings: warnings?.map(str),
    data: fields.get("data"),
    parallel: fields.has("__parallel__"),
    fields,
  };
}

/** A duration in milliseconds, also of Salt's older form `12.5 ms`; 0 where it is none. */
export function durationMs(duration: Value): number {
  if (typeof duration !== "string") return toNumber(duration) ?? 0;
  const text = duration.split(" ms")[0].trim();
  return /^[-+]?(\d+(?:\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : 0;
}
