/**
 * Results of states: the fields that the runtime adds, and its checks of what a function returns. Source: Salt 3008.3,
 * `OutputUnifier` of `salt/utils/decorators/state.py`, `_assign_not_run_result_dict` of `salt/state.py`.
 * @module
 */

import { messageOf, PluginError, RenderError } from "#lib/errors.ts";
import type { Chunk } from "#lib/states/compiler/chunks.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { startClock } from "./clock.ts";

/** The beginning of the comment if a state function throws. */
const EXCEPTION = "An exception occurred in this state: ";

const MUST_HAVE = ["name", "result", "changes", "comment"];

/** The result of a state that is not called. */
export function notRun(
  chunk: Chunk,
  { result, comment, runNum }: { result: boolean; comment: string; runNum: number },
): ValueMap {
  const { start_time, duration } = startClock()();
  const made = { changes: {}, result, duration, start_time, comment, __state_ran__: false, __run_num__: runNum };
  return withOwner(map(made), chunk);
}

/** Adds the state that a result belongs to. */
export function withOwner(result: ValueMap, chunk: Chunk): ValueMap {
  for (const key of ["__sls__", "__id__", "name"]) result.set(key, chunk.get(key) ?? null);
  return result;
}

/** The result of a state whose function threw. */
export function thrownResult(name: Value, error: unknown): ValueMap {
  return map({ result: false, name, changes: {}, comment: EXCEPTION + reasonOf(error) });
}

/** The text of an error: of the host or the caller, its message; of a plugin or this program, with its stack. */
function reasonOf(error: unknown): string {
  if (error instanceof RenderError) return error.text;
  if (error instanceof PluginError) return error.trace;
  const isOurs = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError;
  return isOurs ? error.stack ?? error.message : messageOf(error);
}

/**
 * What a state function returned, with its fields checked: a list of comments becomes one text, and the result a bool
 * or None. What is not a result becomes a failed one that says so.
 */
export function unifyReturn(returned: Value): ValueMap {
  const mistake = mistakeOf(returned);
  if (mistake !== undefined || !isMap(returned)) {
    return map({ result: false, name: "later", changes: {}, comment: EXCEPTION + mistake });
  }
  const comment = returned.get("comment");
  if (Array.isArray(comment)) returned.set("comment", comment.map(str).join("\n"));
  const result = returned.get("result") ?? null;
  if (result !== null) returned.set("result", truthy(result));
  return returned;
}

function mistakeOf(returned: Value): string | undefined {
  if (!isMap(returned)) return "Malformed state return. Data must be a dictionary type.";
  if (!isMap(returned.get("changes"))) return "'Changes' should be a dictionary.";
  const missing = MUST_HAVE.filter((key) => !returned.has(key));
  if (missing.length > 0) return `The following keys were not present in the state return: ${missing.join(", ")}.`;
  const inner = returned.get("sub_state_run");
  if (!Array.isArray(inner)) return undefined;
  return inner.map(mistakeOf).find((mistake) => mistake !== undefined);
}
