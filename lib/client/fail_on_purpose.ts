/**
 * What `error.error` does, as a runner and as a wheel function.
 * @module
 */

import type { ValueMap } from "#lib/values/value.ts";

/**
 * Throws an error of this name and message.
 * @returns An empty map if `name` is null.
 */
export function failOnPurpose(name: string | null, message: string): ValueMap {
  if (name === null) return new Map();
  const error = new Error(message);
  error.name = name === "" ? "Exception" : name;
  throw error;
}
