/**
 * Shared helpers of states for calling execution modules: whether a function exists, its keywords, and its failure as a
 * result.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, type StateResult } from "#lib/plugins/state_module.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { toValue, type Value, type ValueMap } from "#lib/values/value.ts";

/** Whether the minion has an execution function, `pkg.hold`. */
export async function hasFunction(name: string, { catalogue }: StateContext): Promise<boolean> {
  return await catalogue.get(name) !== undefined;
}

/** Keywords for a function, without those that are None: for them it has its defaults. */
export function keywords(own: Readonly<Record<string, unknown>>, more: ValueMap = new Map()): ValueMap {
  const all = [...Object.entries(own), ...more].map(([key, item]): [Value, Value] => [key, toValue(item)]);
  return new Map(all.filter(([, item]) => item !== null));
}

/**
 * The text of a command's failure.
 * @throws The error, if it is another one.
 */
export function failureText(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  throw error;
}

/** The result of a state whose change has failed: information about it, or `what` and the failure's text. */
export function failedChange(name: Value, what: string, error: unknown): StateResult {
  const text = failureText(error);
  const info = error instanceof CommandError ? error.info : undefined;
  if (info === undefined) return failState(name, `${what}: ${text}`);
  const changes = toValue(info.changes ?? {});
  return failState(name, info.message, mapOrEmpty(changes));
}
