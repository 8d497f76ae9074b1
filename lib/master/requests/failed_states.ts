/**
 * The events of failed states: one for each state that failed in a return of `state.sls` or `state.highstate`.
 * Source: Salt 3008.3 `salt/utils/event.py` fire_ret_load. Its second event of each, whose tag is made of names that
 * the minion chooses, is not fired.
 * @module
 */

import { stateError } from "#lib/protocol/tags.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** The functions whose failed states are told. */
const TOLD: readonly Value[] = ["state.sls", "state.highstate"];
/** Events of one return at most: a minion decides how many states fail. */
const MAX_EVENTS = 1_000;
/** What is between the parts of a state's tag in a return. */
const BETWEEN = "_|-";

/** One event. */
export interface StateErrorEvent {
  readonly tag: string;
  readonly data: ValueMap;
}

/** The events of a return that `id` has sent for job `jid`, in the order of its states. */
export function failedStateEvents(
  load: ValueMap,
  { jid, id }: { readonly jid: string; readonly id: string },
): StateErrorEvent[] {
  return callsIn(load).flatMap(({ fun, retcode, returned }) => {
    const failed = [...returned].filter(([, result]) => isMap(result) && result.get("result") === false);
    return failed.map(([state, result]): StateErrorEvent => {
      const parts = String(state).split(BETWEEN);
      const data: ValueMap = new Map(isMap(result) ? result : []);
      data.set("retcode", retcode).set("jid", jid).set("id", id).set("success", false);
      data.set("return", `Error: ${parts[0]}.${parts.at(-1)}`).set("fun", fun);
      if (load.has("user")) data.set("user", load.get("user") ?? null);
      return { tag: stateError(jid, id, fun), data };
    });
  }).slice(0, MAX_EVENTS);
}

interface Call {
  readonly fun: string;
  readonly retcode: Value;
  readonly returned: ValueMap;
}

/** The calls of told functions that failed; a job may have several functions. */
function callsIn(load: ValueMap): Call[] {
  const fun = load.get("fun") ?? null, retcode = load.get("retcode") ?? null, returned = load.get("return") ?? null;
  const calls = Array.isArray(fun)
    ? fun.map((name, index) => [name, partOf(retcode, name, index), partOf(returned, name, index)] as const)
    : [[fun, retcode, returned] as const];
  return calls.flatMap(([name, code, answer]) =>
    typeof name === "string" && TOLD.includes(name) && code !== null && code !== 0 && code !== false && isMap(answer)
      ? [{ fun: name, retcode: code, returned: answer }]
      : []
  );
}

/** The part of one function: of a list by its place, of a map by its name. */
function partOf(value: Value, name: Value, index: number): Value {
  if (Array.isArray(value)) return value[index] ?? null;
  return isMap(value) ? value.get(name) ?? null : null;
}
