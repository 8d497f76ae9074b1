/**
 * Driver `env` of sdb: variables of the environment. What is set lasts for the job.
 * Source: Salt 3008.3 `salt/sdb/env.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** What jobs have set, by the signal that each job has of its own. Threads share the real environment. */
const SET = new WeakMap<AbortSignal, Map<string, string>>();

/** The variable's value; None: it is not set. */
export function get(key: string, _profile: ValueMap, { signal }: JobContext): Value {
  return Deno.env.get(key) ?? SET.get(signal)?.get(key) ?? null;
}

/**
 * Sets a variable that is not set.
 * @returns Its value from now on.
 * @throws {InvocationError} If the value is no text.
 */
export function set(key: string, value: Value, profile: ValueMap, context: JobContext): Value {
  if (typeof value !== "string") throw new InvocationError(`str expected, not ${typeName(value)}`);
  const there = get(key, profile, context);
  if (there !== null) return there;
  const own = SET.get(context.signal) ?? new Map<string, string>();
  SET.set(context.signal, own.set(key, value));
  return value;
}
