/**
 * JSON5's library, loaded when it is needed. It makes plain objects: names such as `1` come first in a map, in their
 * order as numbers, and a float without a fraction is an int. Source: npm:json5.
 * @module
 */

import { toValue, type Value } from "#lib/values/value.ts";

/** The part of the library that is used. */
interface Json5 {
  parse(text: string): unknown;
}

/**
 * The value that `text` holds.
 * @throws {SyntaxError} With `lineNumber` and `columnNumber`, from 1, if it is not JSON5.
 */
export async function readJson5(text: string): Promise<Value> {
  const { default: json5 }: { default: Json5 } = await import("json5");
  return toValue(json5.parse(text));
}
