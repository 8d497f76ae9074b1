/**
 * Records the reads of a pillar or of one of its files: paths, grains, and facts of the request. While all of them are
 * unchanged, the result is the same.
 * @module
 */

import { sameBytes } from "#lib/crypto/same_bytes.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { PillarNotes } from "#lib/plugins/pillar_source.ts";
import { equals, type Value, type ValueMap } from "#lib/values/value.ts";
import { isUnsettled, stampOf } from "./stamps.ts";

/** The facts of a minion's request that reads are compared with. */
export interface ReadFacts {
  readonly grains: ValueMap;
  /** Options of this minion: its id, the environments. */
  readonly own: ValueMap;
}

/** The recorded reads. */
export class PillarReads implements PillarNotes {
  readonly #paths = new Map<string, string>();
  readonly #grains = new Map<Value, Value | undefined>();
  readonly #own = new Map<Value, Value | undefined>();
  /** All grains, packed, if all were read. */
  #allGrains: Uint8Array | undefined;
  #reason: string | undefined;

  /** The reason why the result must not be cached; `undefined` if it may be cached. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** It depends on the file or directory at a path. Called before the path is read. */
  path(path: string): void {
    if (this.#paths.has(path)) return;
    this.#paths.set(path, stampOf(path));
    if (isUnsettled(path, Date.now())) this.changing(`${path} has just been changed`);
  }

  /** It must not be cached. */
  changing(reason: string): void {
    this.#reason ??= reason;
  }

  /** A grain was read. */
  grain(key: Value, value: Value | undefined): void {
    this.#grains.set(key, value);
  }

  /** All grains were read. */
  grains(grains: ValueMap): void {
    this.#allGrains ??= encode(grains, "disk");
  }

  /** An option that depends on the request was read. */
  option(key: Value, value: Value | undefined): void {
    this.#own.set(key, value);
  }

  /** Adds the reads of another result. */
  add(other: PillarReads): void {
    for (const [path, stamp] of other.#paths) if (!this.#paths.has(path)) this.#paths.set(path, stamp);
    for (const [key, value] of other.#grains) this.#grains.set(key, value);
    for (const [key, value] of other.#own) this.#own.set(key, value);
    this.#allGrains ??= other.#allGrains;
    this.#reason ??= other.#reason;
  }

  /**
   * Whether the reads are unchanged for a request.
   * @param stamps Gives the stamp of a path now.
   */
  holds({ grains, own }: ReadFacts, stamps: (path: string) => string = stampOf): boolean {
    for (const [key, value] of this.#own) if (!isSame(value, own.get(key))) return false;
    for (const [key, value] of this.#grains) if (!isSame(value, grains.get(key))) return false;
    if (this.#allGrains !== undefined && !sameBytes(this.#allGrains, encode(grains, "disk"))) return false;
    for (const [path, stamp] of this.#paths) if (stamps(path) !== stamp) return false;
    return true;
  }
}

function isSame(a: Value | undefined, b: Value | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return equals(a, b) && (typeof a === "string" || sameBytes(encode(a, "disk"), encode(b, "disk")));
}
