/**
 * The aggregation of states of packages: one run of the package manager for many states.
 * Source: Salt 3008.3 `salt/states/pkg.py` mod_aggregate.
 * @module
 */

import { chunkTag } from "#lib/states/compiler/chunks.ts";
import { listOrEmpty, textOrNull } from "#lib/values/shape.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

const AGGREGATED = ["installed", "latest", "removed", "purged"];

/** Names with the requested versions, or files; `null`: any. */
class Wanted {
  readonly #versions = new Map<string, Set<string | null>>();

  add(name: string, version: Value): void {
    const versions = this.#versions.get(name) ?? new Set();
    this.#versions.set(name, versions.add(textOrNull(version)));
  }

  /** Adds the entries of a state's `pkgs` or `sources`. */
  addAll(list: Value | undefined): void {
    for (const one of listOrEmpty(list)) {
      if (isMap(one)) { for (const [name, version] of one) this.add(str(name), version); }
      else this.add(str(one), null);
    }
  }

  get isEmpty(): boolean {
    return this.#versions.size === 0;
  }

  /** The result as the list of a state. A version that one state requests applies to the others too. */
  list(): Value[] {
    return [...this.#versions].flatMap(([name, versions]) => {
      const named = [...versions].filter((version) => version !== null);
      return named.length === 0 ? [name] : named.map((version): Value => new Map([[name, version]]));
    });
  }
}

/**
 * Aggregates the packages of later states of the same kind into this one.
 * @param low The chunk that is about to run; it gets the list.
 * @param chunks Chunks of the run; those that are aggregated are marked by `__agg__`.
 * @param running The results so far.
 */
export function aggregatePackages(
  low: ValueMap,
  chunks: readonly Value[],
  running: ReadonlyMap<Value, Value>,
): ValueMap {
  if (!AGGREGATED.includes(str(low.get("fun") ?? ""))) return low;
  const list = low.has("sources") ? "sources" : "pkgs";
  const own = new Wanted();
  if (low.has(list)) own.addAll(low.get(list));
  else own.add(str(low.get("name") ?? ""), low.get("version") ?? null);
  const added = new Wanted();
  for (const chunk of chunks.filter(isMap)) {
    if (chunkTag(chunk) === chunkTag(low)) continue;
    if (chunk.get("state") !== "pkg" || running.has(chunkTag(chunk)) || chunk.has("__agg__")) continue;
    const isAlike = chunk.get("fun") === low.get("fun") &&
      (chunk.get("fromrepo") ?? null) === (low.get("fromrepo") ?? null);
    // A hold would be for all of them.
    if (!isAlike || chunk.has("hold") || chunk.has("sources") !== low.has("sources")) continue;
    if (chunk.has(list)) added.addAll(chunk.get(list));
    else {
      added.add(str(chunk.get("name") ?? ""), chunk.get("version") ?? null);
      chunk.delete("version");
    }
    chunk.set("__agg__", true);
  }
  if (added.isEmpty) return low;
  own.addAll(added.list());
  low.delete("version");
  return low.set(list, own.list());
}
