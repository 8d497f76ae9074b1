/**
 * The fields of a question of a plugin, each checked when it is read.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Reads fields of a question. What has another type than the question needs is a {@linkcode WireError}. */
export class PythonQuestionFields {
  readonly #fields: ValueMap;

  constructor(fields: ValueMap) {
    this.#fields = fields;
  }

  /** Any value; `null` if it is missing. */
  value(name: string): Value {
    return this.#fields.get(name) ?? null;
  }

  /** @throws {WireError} If it is no text. */
  text(name: string): string {
    const value = this.value(name);
    if (typeof value !== "string") throw new WireError(`${name} is no text`, name);
    return value;
  }

  /** @throws {WireError} If it is no list. */
  list(name: string): Value[] {
    const value = this.value(name);
    if (!Array.isArray(value)) throw new WireError(`${name} is no list`, name);
    return value;
  }

  /**
   * A new map, whose keys are texts.
   * @throws {WireError} If it is no map.
   */
  map(name: string): ValueMap {
    const value = this.value(name);
    if (!isMap(value)) throw new WireError(`${name} is no map`, name);
    return map(Object.fromEntries([...value].map(([key, item]) => [str(key), item])));
  }

  /** A number; `undefined` if it is none. */
  number(name: string): number | undefined {
    return toNumber(this.value(name));
  }
}
