/**
 * Calls execution functions on this host, and checks the kind of their results.
 * @module
 */

import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert } from "#tests/support/assert.ts";
import { testContext } from "./job_context.ts";

/** Calls an execution function on this host. */
export async function call(name: string, args: Value[] = [], kwargs: Record<string, Value> = {}): Promise<Value> {
  return await testContext().call(name, args, map(kwargs));
}

/**
 * Calls a function that returns a map.
 * @throws {AssertionError} If it returns something else.
 */
export async function mapOf(name: string, args: Value[] = [], kwargs: Record<string, Value> = {}): Promise<ValueMap> {
  const result = await call(name, args, kwargs);
  assert(isMap(result), `${name} is no map`);
  return result;
}

/**
 * Calls a function that returns a list.
 * @throws {AssertionError} If it returns something else.
 */
export async function listOf(name: string, args: Value[] = [], kwargs: Record<string, Value> = {}): Promise<Value[]> {
  const result = await call(name, args, kwargs);
  assert(Array.isArray(result), `${name} is no list`);
  return result;
}

/**
 * The value, which is a map.
 * @throws {AssertionError} If it is none.
 */
export function asMap(value: Value | undefined): ValueMap {
  assert(isMap(value ?? null));
  return value as ValueMap;
}
