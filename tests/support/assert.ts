/**
 * `@std/assert` with types: the npm build of it ships none.
 * @module
 */

import * as untyped from "@std/assert";

interface Assert {
  assert(condition: unknown, message?: string): asserts condition;
  assertEquals<T>(actual: T, expected: T, message?: string): void;
  assertNotEquals<T>(actual: T, expected: T, message?: string): void;
  assertStringIncludes(actual: string, expected: string, message?: string): void;
  assertMatch(actual: string, expected: RegExp, message?: string): void;
  assertThrows<E extends Error>(
    run: () => unknown,
    errorClass?: new (...args: never[]) => E,
    includes?: string,
    message?: string,
  ): E;
  assertRejects<E extends Error>(
    run: () => PromiseLike<unknown>,
    errorClass?: new (...args: never[]) => E,
    includes?: string,
    message?: string,
  ): Promise<E>;
}

const typed: Assert = untyped as unknown as Assert;

/** Fails unless `condition` is truthy. */
export const assert: Assert["assert"] = typed.assert;
/** Fails unless both are deeply equal. */
export const assertEquals: Assert["assertEquals"] = typed.assertEquals;
/** Fails if both are deeply equal. */
export const assertNotEquals: Assert["assertNotEquals"] = typed.assertNotEquals;
/** Fails unless `actual` contains `expected`. */
export const assertStringIncludes: Assert["assertStringIncludes"] = typed.assertStringIncludes;
/** Fails unless `actual` matches `expected`. */
export const assertMatch: Assert["assertMatch"] = typed.assertMatch;
/** Fails unless `run` throws (an `errorClass`). */
export const assertThrows: Assert["assertThrows"] = typed.assertThrows;
/** Fails unless `run` rejects (with an `errorClass`). */
export const assertRejects: Assert["assertRejects"] = typed.assertRejects;
