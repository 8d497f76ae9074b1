/**
 * `--query`: picks parts of a result by a JMESPath expression, and makes new lists and maps of them.
 *
 * The library works on plain objects. Keys of maps become their texts; a float without a fraction becomes an int.
 * Source: jmespath.org; npm:jmespath.
 * @module
 */

import { messageOf, UsageError } from "../errors.ts";
import { isFloat, isMap, str, toNumber, toValue, type Value } from "../values/value.ts";

/** Finds in a value what an expression asks for; None where there is nothing. */
export type Query = (value: Value) => Value;

/** The part of the library that is used. */
interface Jmespath {
  compile(expression: string): unknown;
  search(data: unknown, expression: string): unknown;
}

/**
 * Reads an expression. The library is loaded when it is asked for: it takes 20 ms.
 * @throws {UsageError} If it cannot be read. What the query throws for a value of the wrong type, is one too.
 */
export async function loadQuery(expression: string): Promise<Query> {
  const { default: jmespath }: { default: Jmespath } = await import("jmespath");
  const refuse = (error: unknown) => new UsageError(`option --query: ${messageOf(error)}: '${expression}'`);
  try {
    jmespath.compile(expression);
  } catch (error) {
    throw refuse(error);
  }
  return (value) => {
    try {
      return toValue(found(jmespath.search(plain(value), expression)));
    } catch (error) {
      throw refuse(error);
    }
  };
}

/** The library asks an object for this method. It has no other inherited name, which an expression could find. */
const PROTOTYPE: object = Object.create(null, { hasOwnProperty: { value: Object.prototype.hasOwnProperty } });

function plain(value: Value): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (isMap(value)) {
    const object: Record<string, unknown> = Object.create(PROTOTYPE);
    for (const [key, item] of value) object[str(key)] = plain(item);
    return object;
  }
  return isFloat(value) ? toNumber(value) : value;
}

/** A result without the functions that an expression may have named. */
function found(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(found);
  if (typeof value === "function" || value === undefined) return null;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, found(item)]));
}
