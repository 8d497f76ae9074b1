/**
 * Values as BSON and back.
 * Source: pymongo 3.13, `bson`; bsonspec.org.
 * @module
 */

import type { BSON } from "mongodb";
import { CommandError } from "#lib/errors.ts";
import { float, int, isFloat, isInt, isMap, repr, str, toNumber, type Value } from "#lib/values/value.ts";

/** The library's classes. */
export type BsonClasses = Pick<typeof BSON, "Binary" | "Double" | "Int32" | "Long">;

const [INT32_MIN, INT32_MAX] = [-(2n ** 31n), 2n ** 31n - 1n];
const [INT64_MIN, INT64_MAX] = [-(2n ** 63n), 2n ** 63n - 1n];

/**
 * A value as the library takes it: maps in their order, and numbers of the type that they have in Python.
 * @throws {CommandError} With Python's words, for an int or a key that BSON does not have.
 */
export function toBson(value: Value, classes: BsonClasses): unknown {
  if (value instanceof Uint8Array) return new classes.Binary(value);
  if (isFloat(value)) return new classes.Double(toNumber(value) ?? NaN);
  if (isInt(value)) {
    const exact = BigInt(value);
    if (exact < INT64_MIN || exact > INT64_MAX) throw new CommandError("MongoDB can only handle up to 8-byte ints");
    if (exact < INT32_MIN || exact > INT32_MAX) return classes.Long.fromBigInt(exact);
    return new classes.Int32(Number(exact));
  }
  if (Array.isArray(value)) return value.map((item) => toBson(item, classes));
  if (isMap(value)) return new Map([...value].map(([key, item]) => [fieldName(key), toBson(item, classes)]));
  return value;
}

function fieldName(key: Value): string {
  if (typeof key !== "string") throw new CommandError(`documents must have only string keys, key was ${repr(key)}`);
  if (key.includes("\x00")) throw new CommandError("Key names must not contain the NULL byte");
  return key;
}

/** The bytes of a UUID: 8, 4, 4, 4 and 12 digits. */
const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/** What the library reads, with its classes for numbers; types that Salt's values have not become texts. */
export function fromBson(read: unknown): Value {
  if (read === null || read === undefined) return null;
  if (typeof read === "boolean" || typeof read === "string") return read;
  if (typeof read === "number") return float(read);
  if (typeof read === "bigint") return int(read);
  if (Array.isArray(read)) return read.map(fromBson);
  if (read instanceof Date) return dateText(read);
  if (typeof read !== "object") return String(read);
  // The library's classes have it in their prototypes: a document's own field is not one of them.
  const type: unknown = Object.hasOwn(read, "_bsontype") ? undefined : Reflect.get(read, "_bsontype");
  if (typeof type === "string") return fromClass(read, type);
  return new Map(Object.entries(read).map(([key, item]) => [key, fromBson(item)]));
}

function fromClass(read: object, type: string): Value {
  const of = (name: string): unknown => Reflect.get(read, name);
  switch (type) {
    case "Int32":
      return Number(of("value"));
    case "Double":
      return float(Number(of("value")));
    case "Long":
      return int(BigInt(String(read)));
    case "Binary":
      return binaryValue(of("buffer"), { end: of("position"), kind: of("sub_type") });
    case "BSONRegExp":
      return String(of("pattern"));
    case "Code":
      return String(of("code"));
    case "Timestamp":
      return `Timestamp(${of("t")}, ${of("i")})`;
    case "MinKey":
    case "MaxKey":
      return `${type}()`;
    case "DBRef":
      return `DBRef(${repr(String(of("collection")))}, ${repr(String(of("oid")))})`;
    default: // ObjectId, Decimal128, and the symbols of old servers.
      return String(read);
  }
}

function binaryValue(buffer: unknown, { end, kind }: { readonly end: unknown; readonly kind: unknown }): Value {
  const bytes = new Uint8Array(buffer instanceof Uint8Array ? buffer.subarray(0, Number(end)) : []);
  const isUuid = (kind === 3 || kind === 4) && bytes.length === 16;
  return isUuid ? bytes.toHex().replace(UUID, "$1-$2-$3-$4-$5") : bytes;
}

/** As Python's `str` of a time: without a fraction if it is 0. */
function dateText(date: Date): string {
  if (Number.isNaN(date.getTime())) return "";
  const [day, time] = date.toISOString().split("T");
  const [seconds, thousandths] = time.replace("Z", "").split(".");
  return `${day} ${seconds}${thousandths === "000" ? "" : `.${thousandths}000`}`;
}

/** `text, full error: {…}`: how Salt's library shows what a server has said of an error. */
export function fullError(text: string, details: Value): string {
  return `${text}, full error: ${str(details)}`;
}
