/**
 * High data as `stateconf` walks through it: states, the items of their arguments, and the places of what it changes.
 * Source: Salt 3008.3, `salt/renderers/stateconf.py` statelist, nvlist, nvlist2.
 * @module
 */

import type { Place } from "#lib/errors.ts";
import type { Positions } from "#lib/values/positions.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** What is not in the form of high data, so that nothing can be made of it. */
export class MalformedHigh extends Error {
  override name = "MalformedHigh";
  /** @param at The map and the key with the mistake, if it has a key. */
  constructor(message: string, readonly at?: readonly [ValueMap, Value]) {
    super(message);
  }
}

/** A state of an ID: `pkg.installed` with its arguments. */
export interface DeclaredState {
  readonly id: string;
  /** The states of the ID. */
  readonly body: ValueMap;
  /** `pkg.installed`, or `pkg` in the long form. */
  readonly state: string;
  readonly args: Value;
}

/** A map with one key in a list, and that key with its value. */
export interface NamedItem {
  readonly item: ValueMap;
  readonly key: Value;
  readonly value: Value;
}

/** The keys of high data that are no IDs. */
export const NO_IDS: ReadonlySet<string> = new Set(["include", "exclude", "extend"]);

/** The states of all IDs but those of `excluded`. */
export function* statesOf(high: ValueMap, excluded: ReadonlySet<string>): Generator<DeclaredState> {
  for (const key of high.keys()) {
    const id = needName(key);
    if (id.startsWith("__") || excluded.has(id)) continue;
    const body = bodyOf(high, id);
    for (const [name, args] of body) {
      const state = needName(name);
      if (state.startsWith("__")) continue;
      if (!Array.isArray(args) && !isMap(args)) {
        throw new MalformedHigh(`State '${id}' is not formed as a list`, [body, state]);
      }
      yield { id, body, state, args };
    }
  }
}

/** The states of an ID. */
export function bodyOf(high: ValueMap, id: string): ValueMap {
  const body = high.get(id) ?? null;
  if (isMap(body)) return body;
  throw new MalformedHigh(`The type ${id} in ${str(body)} is not formatted as a dictionary`, [high, id]);
}

/** The module of a state: `pkg` of `pkg.installed`. */
export function stateModuleOf(state: string): string {
  return state.split(".", 1)[0];
}

/** The items `key: value` of a list whose key is one of `keys`; all without `keys`. */
export function* namedItems(list: Value | undefined, keys?: ReadonlySet<string>): Generator<NamedItem> {
  for (const item of itemsOf(list)) {
    if (!isMap(item)) continue;
    const first = item.entries().next();
    if (first.done === true) throw new MalformedHigh("an empty map");
    const [key, value] = first.value;
    if (keys === undefined || typeof key === "string" && keys.has(key)) yield { item, key, value };
  }
}

/** The requisites of a state's arguments: the items of the values of those items whose key is one of `keys`. */
export function* requisitesOf(args: Value, keys: ReadonlySet<string>): Generator<NamedItem> {
  for (const { value } of namedItems(args, keys)) yield* namedItems(value);
}

/** Python's iteration: of a map its keys; a text has no items that matter here. */
function itemsOf(value: Value | undefined): readonly Value[] {
  if (Array.isArray(value)) return value;
  if (value !== undefined && isMap(value) || typeof value === "string") return [];
  throw new MalformedHigh(`${str(value ?? null)} is no list`);
}

/** @throws {MalformedHigh} If it is no text. */
export function needName(value: Value): string {
  if (typeof value === "string") return value;
  throw new MalformedHigh(`${str(value)} is no text`);
}

/** @throws {MalformedHigh} If it is no map. */
export function needMap(value: Value | undefined): ValueMap {
  if (value !== undefined && isMap(value)) return value;
  throw new MalformedHigh(`${str(value ?? null)} is no map`);
}

/** @throws {MalformedHigh} If it is no list. */
export function needList(value: Value | undefined): Value[] {
  if (Array.isArray(value)) return value;
  throw new MalformedHigh(`${str(value ?? null)} is no list`);
}

/** The places of data that is changed after it has been read. */
export class ChangedPlaces implements Positions {
  readonly #read: Positions | undefined;
  /** The names that keys had in the file. */
  readonly #keys = new Map<ValueMap, Map<Value, Value>>();
  /** Lists that got one more item at their begin. */
  readonly #shifted = new Map<readonly Value[], number>();

  /** @param read The places of the data when it was read. */
  constructor(read: Positions | undefined) {
    this.#read = read;
  }

  /** `map` got `now` in place of the key `was`. */
  renamed(map: ValueMap, was: Value, now: Value): void {
    const keys = this.#keys.get(map) ?? new Map<Value, Value>();
    this.#keys.set(map, keys.set(now, was));
  }

  /** Puts an item before the others of `list`. */
  prepend(list: Value[], item: Value): void {
    list.unshift(item);
    this.#shifted.set(list, (this.#shifted.get(list) ?? 0) + 1);
  }

  /** The place of a key, by the name that it had in the file. */
  key(map: ValueMap, key: Value): Place | undefined {
    return this.#read?.key(map, this.#keys.get(map)?.get(key) ?? key);
  }

  /** The place of an item of the file. */
  item(list: readonly Value[], index: number): Place | undefined {
    return this.#read?.item(list, index - (this.#shifted.get(list) ?? 0));
  }

  /** As before the changes. */
  holder(made: ValueMap | readonly Value[]): Place | undefined {
    return this.#read?.holder(made);
  }
}
