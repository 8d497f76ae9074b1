/**
 * `--query` and the template filter `json_query`: picks parts of a value by a JMESPath expression, and makes new lists
 * and maps of them.
 *
 * The library works on plain objects. In maps that it makes, keys are texts; a float without a fraction becomes an int
 * where it is picked alone. A map or list that is picked whole stays as it is. Source: jmespath.org; npm:jmespath.
 * @module
 */

import { messageOf, UsageError } from "#lib/errors.ts";
import { isList } from "#lib/values/tuple.ts";
import { isFloat, isMap, str, toNumber, toValue, type Value } from "#lib/values/value.ts";

/** Selects a part of a value by an expression; None if there is nothing. */
export type Query = (value: Value) => Value;

/** The part of the library that is used. */
interface Jmespath {
  compile(expression: string): unknown;
  search(data: unknown, expression: string): unknown;
}

/** Who asks. */
interface Asker {
  /**
   * The name in errors.
   * @default {"option --query"}
   */
  readonly asker?: string;
  /**
   * Whether tuples and sets have no items for an expression, as for Python's library.
   * @default {false}
   */
  readonly onlyLists?: boolean;
}

/**
 * Reads an expression. The library is loaded at the first call: it takes 20 ms.
 * @throws {UsageError} If it cannot be read. What the query throws for a value of the wrong type, is one too.
 */
export async function loadQuery(
  expression: string,
  { asker = "option --query", onlyLists = false }: Asker = {},
): Promise<Query> {
  const { default: jmespath }: { default: Jmespath } = await import("jmespath");
  const refuse = (error: unknown) => new UsageError(`${asker}: ${messageOf(error)}: '${expression}'`);
  try {
    jmespath.compile(expression);
  } catch (error) {
    throw refuse(error);
  }
  return (value) => {
    try {
      const parts = { originals: new Map(), onlyLists };
      return toValue(originalOf(jmespath.search(plain(value, parts), expression), parts.originals));
    } catch (error) {
      throw refuse(error);
    }
  };
}

/** The library asks an object for this method. It has no other inherited name, which an expression could find. */
const PROTOTYPE: object = Object.create(null, { hasOwnProperty: { value: Object.prototype.hasOwnProperty } });

/** The original maps and lists, by the plain objects that the library gets. */
type Originals = Map<unknown, Value>;

/** Of what the library knows no type: neither an array nor an object. */
class Opaque {
  readonly [Symbol.toStringTag] = "opaque";
}

function plain(value: Value, parts: { readonly originals: Originals; readonly onlyLists: boolean }): unknown {
  const { originals, onlyLists } = parts;
  let plainValue: unknown;
  if (onlyLists && Array.isArray(value) && !isList(value)) plainValue = new Opaque();
  else if (Array.isArray(value)) plainValue = value.map((item) => plain(item, parts));
  else if (isMap(value)) {
    const object: Record<string, unknown> = Object.create(PROTOTYPE);
    for (const [key, item] of value) object[str(key)] = plain(item, parts);
    plainValue = object;
  } else return isFloat(value) ? toNumber(value) : value;
  originals.set(plainValue, value);
  return plainValue;
}

/** A result without the functions that an expression may have named. */
function originalOf(value: unknown, originals: Originals): unknown {
  const original = originals.get(value);
  if (original !== undefined) return original;
  if (Array.isArray(value)) return value.map((item) => originalOf(item, originals));
  if (typeof value === "function" || value === undefined) return null;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, originalOf(item, originals)]));
}
