/**
 * Python's own exceptions, as templates see them.
 * @module
 */

import { PythonError } from "#lib/errors.ts";

/** Python's exceptions that operations on values raise. */
export type PythonErrorType =
  | "TypeError"
  | "ValueError"
  | "KeyError"
  | "IndexError"
  | "AttributeError"
  | "ZeroDivisionError"
  | "OverflowError"
  | "MemoryError"
  | "RuntimeError"
  | "RecursionError"
  | "LookupError"
  | "UnicodeError"
  | "UnicodeDecodeError"
  | "UnicodeEncodeError"
  | "AssertionError";

/** The exception, to be thrown. */
export function pythonError(type: PythonErrorType, message: string): PythonError {
  return new PythonError(type, message);
}

/** Whether `error` is one of Python's exceptions of these types. */
export function isPythonError(error: unknown, ...types: readonly PythonErrorType[]): boolean {
  return error instanceof PythonError && types.some((type) => type === error.type);
}

/** Operations that would create longer lists, tuples, sets or maps are refused. */
const MAX_ITEMS = 10_000_000;

/** Operations that would create longer texts (UTF-16 units) are refused. */
const MAX_TEXT = 256 * 1024 * 1024;

/**
 * Refuses results that need too much memory.
 * @throws {PythonError} MemoryError.
 */
export function checkItems(count: number): void {
  if (count > MAX_ITEMS) throw pythonError("MemoryError", `more than ${MAX_ITEMS} items`);
}

/** As {@linkcode checkItems} for a text. */
export function checkText(length: number): void {
  if (length > MAX_TEXT) throw pythonError("MemoryError", `a text of more than ${MAX_TEXT} characters`);
}
