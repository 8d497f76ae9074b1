/**
 * A cache of rendered pillar files, shared by all minions with the same result: an entry is valid while the files,
 * grains and options that it read are unchanged.
 * @module
 */

import type { PillarReads, ReadFacts } from "./reads.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { stampOf } from "./stamps.ts";
import { isMap, type Value } from "#lib/values/value.ts";

/** Maximum number of files in the cache. */
const MAX_FILES = 2_000;
/** Maximum number of results of one file: a file that differs for each minion is not worth caching. */
const MAX_FORMS = 16;
/** A file with more values than this is not cached. */
const MAX_VALUES = 20_000;

interface Form {
  readonly reads: PillarReads;
  readonly data: Value;
}

/** The rendered files of one process. */
export class SlsCache {
  readonly #files = new BoundedMap<string, Form[]>(MAX_FILES);

  /** The cached result of a file for a request with the same reads. */
  find(key: string, facts: ReadFacts): Form | undefined {
    const forms = this.#files.get(key);
    if (forms === undefined) return undefined;
    const stamps = new Map<string, string>();
    const stamp = (path: string) => {
      const stamp = stamps.get(path) ?? stampOf(path);
      stamps.set(path, stamp);
      return stamp;
    };
    return forms.find(({ reads }) => reads.holds(facts, stamp));
  }

  /** Stores a result of a file. */
  keep(key: string, form: Form): void {
    if (form.reads.reason !== undefined || countValues(form.data, MAX_VALUES) > MAX_VALUES) return;
    const forms = this.#files.get(key) ?? [];
    this.#files.set(key, [form, ...forms].slice(0, MAX_FORMS));
  }
}

/** Renders a file, or takes it from the cache. The result is a copy that the caller may change. */
export async function renderCached(
  { key, facts, reads, cache }: {
    readonly key: string;
    readonly facts: ReadFacts;
    readonly reads: PillarReads;
    readonly cache: SlsCache | undefined;
  },
  render: () => Promise<Value>,
): Promise<Value> {
  const cached = cache?.find(key, facts);
  if (cached !== undefined) {
    reads.add(cached.reads);
    return deepCopy(cached.data);
  }
  const data = await render();
  if (cache === undefined) return data;
  cache.keep(key, { reads, data });
  // A copy: merging one minion's pillar must not change the cached data.
  return deepCopy(data);
}

/** A copy that shares no list and no map. */
export function deepCopy(value: Value): Value {
  if (Array.isArray(value)) return value.map(deepCopy);
  if (!isMap(value)) return value;
  const copy = new Map<Value, Value>();
  for (const [key, item] of value) copy.set(key, deepCopy(item));
  return copy;
}

/** Number of values in one; counts at most to `max` + 1. */
function countValues(value: Value, max: number): number {
  if (!Array.isArray(value) && !isMap(value)) return 1;
  let count = 1;
  for (const item of value.values()) {
    if (count > max) break;
    count += countValues(item, max - count);
  }
  return count;
}
