/**
 * The fields of a message from another thread or process, each checked before use. Decoded bytes are a map; a message
 * that Deno cloned is an object.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { Float } from "#lib/values/value.ts";

/** The parts of a message by name. */
export interface Fields {
  /** Maximum length of its texts, in UTF-16 units. */
  readonly mostText: number;
  /** One part; `undefined` if there is none. */
  get(name: string): unknown;
}

/**
 * The parts of `value`.
 * @param mostText Maximum length of its texts.
 * @throws {WireError} If it has none.
 */
export function fieldsOf(value: unknown, mostText = Infinity): Fields {
  if (typeof value !== "object" || value === null) throw new WireError("a part of a message that is no map");
  if (value instanceof Map) return { mostText, get: (name) => value.get(name) };
  return { mostText, get: (name) => Object.getOwnPropertyDescriptor(value, name)?.value };
}

/**
 * The value of a field that is an object, whose own fields are read in turn.
 * @throws {WireError}
 */
export function readPart(fields: Fields, field: string): Fields {
  return fieldsOf(fields.get(field), fields.mostText);
}

/**
 * A field that must be a text.
 * @throws {WireError}
 */
export function readText(fields: Fields, field: string): string {
  const value = fields.get(field);
  if (typeof value !== "string" || value.length > fields.mostText) throw new WireError(`${field} is no text`, field);
  return value;
}

/**
 * A field that must be bytes.
 * @throws {WireError}
 */
export function readBlob(fields: Fields, field: string): Uint8Array {
  const value = fields.get(field);
  if (!(value instanceof Uint8Array)) throw new WireError(`${field} is no bytes`, field);
  return value;
}

/**
 * A field that must be a whole number from 0 to `max`.
 * @throws {WireError}
 */
export function readInteger(fields: Fields, field: string, max: number): number {
  const value = fields.get(field);
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > max) {
    throw new WireError(`${field} is no number from 0 to ${max}`, field);
  }
  return value;
}

/**
 * A field that must be a number, whole or not.
 * @throws {WireError}
 */
export function readNumber(fields: Fields, field: string): number {
  const value = fields.get(field);
  if (typeof value === "number") return value;
  if (value instanceof Float) return value.value;
  throw new WireError(`${field} is no number`, field);
}

/**
 * A field that must be one of `words`.
 * @throws {WireError}
 */
export function oneOf<T extends string>(fields: Fields, field: string, words: readonly T[]): T {
  const value = fields.get(field);
  const word = words.find((known) => known === value);
  if (word === undefined) throw new WireError(`${field} is none of ${words.join(", ")}`, field);
  return word;
}

/**
 * A field that must be true or false.
 * @throws {WireError}
 */
export function readBool(fields: Fields, field: string): boolean {
  const value = fields.get(field);
  if (typeof value !== "boolean") throw new WireError(`${field} is neither true nor false`, field);
  return value;
}

/**
 * A field that must be a list of texts.
 * @throws {WireError}
 */
export function readTexts(fields: Fields, field: string): string[] {
  const value = fields.get(field);
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw new WireError(`${field} is no list of texts`, field);
  }
  return value;
}

/**
 * A field that must be a map of texts.
 * @throws {WireError}
 */
export function readTextsByName(fields: Fields, field: string): Record<string, string> {
  const value: unknown = fields.get(field);
  if (typeof value !== "object" || value === null) throw new WireError(`${field} is no map of texts`, field);
  const entries: [unknown, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(entries.map(([name, item]) => {
    if (typeof name !== "string" || typeof item !== "string") throw new WireError(`${field} is no map of texts`, field);
    return [name, item];
  }));
}

/** Whether a message has this field. A packed message has `null` for missing fields. */
export function has(fields: Fields, field: string): boolean {
  return (fields.get(field) ?? null) !== null;
}
