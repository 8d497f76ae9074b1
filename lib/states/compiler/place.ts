/**
 * Finds places in SLS files. Compiling moves lists and maps, but keeps the objects: an object identifies its place.
 * @module
 */

import type { Place } from "#lib/errors.ts";
import type { Positions } from "#lib/values/positions.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** Finds a place on demand, because most are never needed. */
export type Origin = () => Place | undefined;

/** The places of all documents of a compilation, and of derived data. */
export class Places {
  /** The last document is first: its declarations are being processed. */
  readonly #documents: Positions[] = [];
  readonly #origins = new Map<object, Origin | readonly Value[]>();
  /** The maps of IDs of files. Objects under an ID are searched when a place is requested. */
  readonly #declared: ValueMap[] = [];
  #bodies: Map<Value, Place> | undefined;
  /** The document of each requested map or list: a tree may have ten thousand. */
  readonly #known = new Map<object, Positions>();

  /** Adds a document. */
  add(document: Positions): void {
    this.#documents.unshift(document);
  }

  /** Adds the IDs of a file, whose bodies may have been converted from texts. */
  declare(ids: ValueMap): void {
    this.#declared.push(ids);
  }

  /** Records the origin of `made`: a place, or a list. */
  note(made: object, origin: Origin | readonly Value[]): void {
    this.#origins.set(made, origin);
  }

  /** The place of an ID's body, a state's arguments, a chunk, or one argument. */
  of(made: Value | undefined): Place | undefined {
    if (made === undefined || !(isMap(made) || Array.isArray(made))) return undefined;
    const origin = this.#origins.get(made);
    if (typeof origin === "function") return origin();
    if (origin !== undefined) return this.of(origin as Value[]);
    const place = this.#find(made, (document) => document.holder(made)) ?? this.#declaredPlace(made);
    if (place !== undefined || !isMap(made)) return place;
    const first = made.keys().next();
    return first.done ? undefined : this.key(made, first.value);
  }

  /** The place of `key` in the map object `map`, which is the one of the data itself. */
  key(map: ValueMap, key: Value): Place | undefined {
    return this.#find(map, (document) => document.key(map, key));
  }

  /** The place of an item of the list object `list`; else that of the item itself. */
  item(list: readonly Value[], index: number): Place | undefined {
    return this.#find(list, (document) => document.item(list, index)) ?? this.of(list[index]);
  }

  clear(): void {
    this.#documents.length = this.#declared.length = 0;
    this.#origins.clear();
    this.#known.clear();
    this.#bodies = undefined;
  }

  #declaredPlace(made: Value): Place | undefined {
    this.#bodies ??= this.#readDeclared();
    return this.#bodies.get(made);
  }

  /** The places of all bodies, and of the lists in them. */
  #readDeclared(): Map<Value, Place> {
    const bodies = new Map<Value, Place>();
    for (const ids of this.#declared) {
      for (const [id, body] of ids) {
        const place = this.key(ids, id);
        if (place === undefined || !isMap(body)) continue;
        bodies.set(body, place);
        for (const run of body.values()) if (Array.isArray(run)) bodies.set(run, place);
      }
    }
    return bodies;
  }

  #find(made: object, look: (document: Positions) => Place | undefined): Place | undefined {
    const position = this.#known.get(made);
    if (position !== undefined) return look(position);
    for (const document of this.#documents) {
      const place = look(document);
      if (place === undefined) continue;
      this.#known.set(made, document);
      return place;
    }
    return undefined;
  }
}
